#pragma once

#include "engine/comm/communicator.h"
#include "engine/recipe/strategy_plan.h"
#include "engine/strategy/nonfinite.h"
#include "engine/tensor/torch.h"

#include <cstdint>
#include <string>
#include <vector>

namespace mantissa {

/// The gradients of whole weights, laid end to end in the order in which backward makes them, and cut into
/// buckets that are averaged over the ranks as soon as they are full, while backward goes on.
///
/// Buckets go out in one order on every rank, whichever is full first: the calls must match.
class GradientBuckets {
public:
    /// `parameters` are those that are trained.
    GradientBuckets(Communicator& communicator, std::vector<at::Tensor> parameters,
                    std::vector<std::string> names, const DdpPlan& plan);
    ~GradientBuckets();
    GradientBuckets(const GradientBuckets&) = delete;
    GradientBuckets& operator=(const GradientBuckets&) = delete;

    void beginPass(bool sync); ///< Before a backward pass.
    void endPass(); ///< Averages what has not gone out, in a pass that syncs. Throws for a weight left out.
    void finish(); ///< Ends a window: .grad() holds the mean; undefined where no rank had one.
    void zero();

    NonfiniteTally takeNonfinite(); ///< Of this rank alone, before any average.
    std::size_t count() const { return m_buckets.size(); }
    std::size_t sent() const { return m_sent; } ///< In this pass.
    std::uint64_t gradientBytes() const { return m_flat.nbytes(); }
    std::uint64_t copyBytes() const { return m_plan.gradientViews ? 0 : m_flat.nbytes(); }

    void arrived(std::size_t parameter); ///< By the hook on a weight, inside backward.

private:
    struct Bucket {
        std::int64_t offset = 0;
        std::int64_t length = 0;
        std::vector<std::size_t> parameters;
        std::size_t awaited = 0;
    };

    void layOut(double bytesPerBucket);
    void sendFull();
    void send(const Bucket& bucket);
    void copyIn(const Bucket& bucket);
    void count(const Bucket& bucket);
    void countFresh();
    void agreeOnUse();
    void requireUse() const;
    at::Tensor part(std::size_t parameter) const;

    Communicator& m_communicator;
    std::vector<at::Tensor> m_parameters;
    std::vector<std::string> m_names;
    DdpPlan m_plan;
    std::vector<Bucket> m_buckets;
    std::vector<std::size_t> m_bucketOf;
    std::vector<std::int64_t> m_offsets;
    std::vector<bool> m_used; ///< In this window.
    std::vector<bool> m_arrivedNow; ///< In this pass.
    std::vector<bool> m_promised; ///< static_graph: what the first window used on any rank.
    std::vector<at::Tensor> m_own; ///< Without views: the gradients themselves.
    at::Tensor m_flat;
    at::Tensor m_averaged; ///< What earlier micro batches of the window have already averaged.
    std::size_t m_sent = 0;
    NonfiniteTally m_nonfinite;
    bool m_sync = true;
    bool m_open = false; ///< A pass has begun and not ended.
    bool m_averagedNow = false; ///< The buckets hold a mean and no longer this rank's own sum.
    bool m_fresh = false; ///< Gradients came in that were not yet counted.
};

} // namespace mantissa
