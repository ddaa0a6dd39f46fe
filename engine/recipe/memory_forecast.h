#pragma once

#include "engine/recipe/memory_estimate.h"
#include "engine/recipe/run_plan.h"
#include "engine/recipe/weight_catalogue.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace mantissa {

/// Bytes of one element.
struct ElementBytes {
    std::uint64_t stored = 4; ///< Weights that the optimizer changes.
    std::uint64_t param = 4; ///< Gathered weights.
    std::uint64_t reduce = 4; ///< A gradient on its way between ranks.
    bool operator==(const ElementBytes&) const = default;
};
ElementBytes elementBytes(const RunPlan& plan);

/// What an optimizer keeps for one tensor of so many elements, its step counter left out.
std::uint64_t optimizerStateBytes(const OptimizerPlan& plan, std::int64_t elements,
                                  std::uint64_t storedBytes);

/// The blocks of a model, as the estimate takes them.
std::vector<UnitSize> blockSizes(const WeightCatalogue& weights);

/// What the memory of a rank depends on, the optimizer's state for weights of these sizes included.
MemoryQuestion memoryQuestion(const RunPlan& plan, std::vector<UnitSize> blocks);

/// Memory of one rank, before anything is made; nothing where the model is known once its file is read.
std::optional<MemoryTerms> forecastMemory(const RunPlan& plan);

} // namespace mantissa
