#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace mantissa {

enum class StrategyKind { Single, Ddp, Zero1, Fsdp, Fsdp2 };

/// What FSDP cuts over the ranks, and when a unit is given back.
enum class Sharding {
    Full, ///< Given back after forward and gathered again for backward.
    GradOp, ///< Kept from forward to the end of backward.
    None, ///< Whole on every rank.
    Hybrid, ///< Full within a group of ranks, whole groups beside each other.
    HybridGradOp ///< GradOp in such groups.
};

enum class UnitWrap { Block, Size, Whole };
enum class GatherAhead { None, Pre, Post }; ///< Of the unit that backward comes to next.
enum class CommKind { Threads, Nccl };

struct DdpPlan {
    double bucketMiB = 25.0;
    bool findUnused = false;
    bool staticGraph = false;
    bool gradientViews = true; ///< Gradients live in the buckets; else they are copied in and out.
    bool broadcastBuffers = true;
};

struct ShardPlan {
    Sharding sharding = Sharding::Full;
    int replicas = 1; ///< Hybrid: groups that each hold the whole model.
    UnitWrap wrap = UnitWrap::Block;
    std::int64_t leastUnit = 100'000'000; ///< Size: elements that make a unit of its own.
    GatherAhead ahead = GatherAhead::None;
    bool forwardAhead = false; ///< The unit that forward comes to next is gathered ahead.
    bool limitAhead = true; ///< One unit ahead; else all that follow.
    std::string outputDtype; ///< fsdp2: of what the model returns; empty: as computed.
    bool castInputs = true; ///< fsdp2: inputs are converted to the compute dtype.
};

/// Weights are gathered from shards for every pass, so that their dtype is that of the computation.
constexpr bool gathersWeights(StrategyKind kind)
{
    return kind == StrategyKind::Fsdp || kind == StrategyKind::Fsdp2;
}

} // namespace mantissa
