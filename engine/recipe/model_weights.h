#pragma once

#include "engine/recipe/model_plan.h"
#include "engine/recipe/weight_catalogue.h"

#include <limits>
#include <optional>

namespace mantissa {

/// What weights a model has follows from its plan alone: so sizes and memory are known before anything is
/// made, and the models themselves are built by the same lists.

WeightCatalogue weightsOf(const MlpPlan& plan);
WeightCatalogue weightsOf(const ConvNetPlan& plan);
/// The generator's layers, then the discriminator's.
WeightCatalogue weightsOf(const GanPlan& plan);

/// Two 3×3 convolutions and the way around them. Its weights stand in the order of ResidualWeight in its
/// unit; the last three only where it reshapes.
struct ResidualBlock {
    std::string name;
    std::int64_t inputs = 0;
    std::int64_t outputs = 0;
    std::int64_t stride = 1;
    bool reshapes() const { return stride != 1 || inputs != outputs; }
};
enum ResidualWeight : std::size_t {
    Conv1,
    Norm1W,
    Norm1B,
    Conv2,
    Norm2W,
    Norm2B,
    DownConv,
    DownNormW,
    DownNormB
};
std::vector<ResidualBlock> blocksOf(const ResNetPlan& plan);
WeightCatalogue weightsOf(const ResNetPlan& plan);

/// Where the weights of a transformer's block stand in its unit, and those of its root; a bias comes right
/// after its weight.
struct TransformerPlaces {
    static constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

    std::size_t norm1 = 0;
    std::size_t qkv = 0;
    std::size_t proj = 0;
    std::size_t norm2 = 0;
    std::size_t up = 0;
    std::size_t gate = kNone;
    std::size_t down = 0;

    std::size_t token = 0;
    std::size_t position = kNone;
    std::size_t lastNorm = 0;
    std::size_t head = 0; ///< The token's where the head is tied.
};
struct TransformerWeights {
    WeightCatalogue weights;
    TransformerPlaces places;
};
TransformerWeights layOut(const TransformerPlan& plan);

/// Nothing for a TorchScript file: what it holds is known once it is read.
std::optional<WeightCatalogue> modelWeights(const ModelPlan& plan);

} // namespace mantissa
