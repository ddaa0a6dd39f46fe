#pragma once

#include "engine/recipe/strategy_plan.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mantissa {

/// Bytes of one rank, term by term; each as many as are ever alive at once.
struct MemoryTerms {
    std::uint64_t parameters = 0; ///< What the rank keeps: whole weights, or its shards.
    std::uint64_t gathered = 0; ///< Units that are whole for a while.
    std::uint64_t gradients = 0; ///< Kept for the optimizer.
    std::uint64_t reduction = 0; ///< Gradients of whole units on their way between ranks.
    std::uint64_t optimizer = 0; ///< Its state tensors.
    std::uint64_t total() const { return parameters + gathered + gradients + reduction + optimizer; }
    bool operator==(const MemoryTerms&) const = default;
};

/// What is gathered together: a block of the model. The root comes last.
struct UnitSize {
    std::string name;
    std::vector<std::int64_t> weights; ///< Elements of each.
    std::int64_t elements() const;
};

/// What the memory of a rank depends on.
struct MemoryQuestion {
    std::vector<UnitSize> units;
    StrategyKind strategy = StrategyKind::Single;
    ShardPlan shards;
    int ranks = 1;
    std::uint64_t storedBytes = 4; ///< Of an element of the weights that the optimizer changes.
    std::uint64_t paramBytes = 4; ///< … of gathered weights.
    std::uint64_t reduceBytes = 4; ///< … of a gradient on its way.
    std::uint64_t stateBytes = 8; ///< Of the optimizer, for each element.
    int passes = 1; ///< Of a window, of which only the last is reduced.
    bool rootAround = false; ///< The root works below the other units too, so that it is there meanwhile.
    bool gradientViews = true;
};

/// Pure: from sizes alone, before anything is made.
MemoryTerms estimateMemory(const MemoryQuestion& question);

/// Each term measured beside its estimate, and what neither counts, in one sentence each.
std::string memoryWords(const MemoryTerms& measured, const MemoryTerms& estimated);

/// What no term holds, in words: nobody should take the sum for everything.
std::span<const std::string_view> memoryLeftOut();

/// The units of a model as the strategy forms them from its blocks.
std::vector<UnitSize> wrappedUnits(const std::vector<UnitSize>& blocks, const ShardPlan& shards);

/// Which unit each block belongs to; the root's unit is the last.
std::vector<int> unitsOfBlocks(const std::vector<std::int64_t>& elements, const ShardPlan& shards);

/// Whether a root that other units run inside of stays gathered meanwhile: where a rank's parameters then
/// stay within 1.15 × (its shards + the largest unit), padding included. In bytes; the root is the last.
bool keepsRoot(const std::vector<std::uint64_t>& wholes, std::uint64_t shards);

/// Elements of one rank's shard of a unit: weights end to end, each on a cache line, padded to equal shards.
std::int64_t shardElements(std::span<const std::int64_t> weights, int shards);

} // namespace mantissa
