#pragma once

#include <cstdint>
#include <vector>

namespace mantissa {

/// Which samples a rank takes when: a pure function of seed, epoch, batch and rank.
/// The joint batch of all ranks is a run of rows of the epoch's order; rank r has rows [r·B/W, (r+1)·B/W) of
/// it. A last, incomplete joint batch of an epoch is left out, so that all ranks always have the same number
/// of rows.
class Sampler {
public:
    struct Plan {
        std::int64_t samples = 0;
        std::int64_t jointBatch = 0; ///< Rows of all ranks together.
        int ranks = 1;
        std::int64_t limitBatches = -1; ///< -1: all.
        std::uint64_t seed = 0;
        bool shuffle = true;
    };

    explicit Sampler(Plan plan) : m_plan(plan) {}

    std::int64_t batchesPerEpoch() const;
    /// The samples of one epoch in order. Worth keeping for the epoch: it costs a pass over all numbers.
    std::vector<std::int64_t> order(std::int64_t epoch) const;
    /// The part of a rank: `order` is that of the epoch.
    std::vector<std::int64_t> rows(const std::vector<std::int64_t>& order, std::int64_t batch,
                                   int rank) const;

private:
    Plan m_plan;
};

} // namespace mantissa
