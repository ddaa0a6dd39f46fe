#pragma once

#include "engine/data/data_set.h"

namespace mantissa {

/// The samples kept back, in joint batches in their own order. Every sample counts once: a last batch may be
/// smaller, and a rank that has nothing of it computes on a sample that does not count, since collectives
/// need all ranks.
class ValidationSet {
public:
    struct Part {
        Batch batch;
        std::int64_t counted = 0; ///< Rows of the batch, from the first, that count.
    };

    ValidationSet(std::shared_ptr<const DataSet> data, std::int64_t rowsPerRank, int ranks);

    std::int64_t batches() const; ///< Of all samples.
    Part take(std::int64_t batch, int rank) const;

private:
    std::shared_ptr<const DataSet> m_data;
    std::int64_t m_rows;
    int m_ranks;
};

} // namespace mantissa
