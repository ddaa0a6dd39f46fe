#include "engine/recipe/memory_forecast.h"

#include "engine/recipe/model_weights.h"

#include <algorithm>

namespace mantissa {
namespace {

constexpr std::int64_t kEightBitBlock = 256; // Elements that share a scale.

std::uint64_t bytesOf(std::string_view format)
{
    return format == "fp64" ? 8 : format == "fp16" || format == "bf16" ? 2 : 4;
}

std::uint64_t lowBytes(PrecisionMode mode)
{
    switch (mode) {
    case PrecisionMode::Fp32True:
        return 4;
    case PrecisionMode::Fp64True:
        return 8;
    default:
        return 2;
    }
}

bool keepsWeightsLow(PrecisionMode mode)
{
    return mode == PrecisionMode::Fp16True || mode == PrecisionMode::Bf16True
        || mode == PrecisionMode::Fp64True;
}

/// State tensors with the shape of their parameter.
std::uint64_t stateTensors(const OptimizerPlan& plan)
{
    switch (plan.kind) {
    case OptimizerKind::Sgd:
    case OptimizerKind::Sgd8bit:
        return plan.momentum != 0.0 ? 1 : 0;
    case OptimizerKind::Adam:
    case OptimizerKind::AdamW:
        return plan.amsgrad ? 3 : 2;
    case OptimizerKind::Adam8bit:
    case OptimizerKind::AdamW8bit:
        return 2;
    case OptimizerKind::Adagrad:
    case OptimizerKind::Lion:
    case OptimizerKind::Lion8bit:
        return 1;
    case OptimizerKind::RmsProp:
        return 1 + (plan.momentum > 0.0 ? 1 : 0) + (plan.centered ? 1 : 0);
    case OptimizerKind::Lbfgs:
        return 2 + 2 * static_cast<std::uint64_t>(plan.lbfgs.historySize);
    }
    return 0;
}

/// Ranks over which the optimizer's state of a weight is spread.
std::int64_t partsOfState(const RunPlan& plan)
{
    if (plan.strategy == StrategyKind::Single || plan.strategy == StrategyKind::Ddp)
        return 1;
    return plan.shards.sharding == Sharding::None ? 1 : std::max(1, plan.ranks / plan.shards.replicas);
}

/// Rounded to whole bytes. Small parts stay fp32 in an 8-bit optimizer, so it matters how they are cut.
std::uint64_t statePerElement(const RunPlan& plan, const std::vector<UnitSize>& blocks)
{
    const std::int64_t parts = partsOfState(plan);
    const std::uint64_t stored = elementBytes(plan).stored;
    std::uint64_t elements = 0;
    std::uint64_t bytes = 0;
    for (const auto& block : blocks) {
        for (const auto weight : block.weights) {
            const std::int64_t part = (weight + parts - 1) / parts;
            elements += static_cast<std::uint64_t>(part);
            bytes += optimizerStateBytes(plan.optimizer, part, stored);
        }
    }
    return elements > 0 ? (bytes + elements / 2) / elements : 0;
}

} // namespace

ElementBytes elementBytes(const RunPlan& plan)
{
    const std::uint64_t low = lowBytes(plan.precision);
    const std::uint64_t stored = keepsWeightsLow(plan.precision) ? low : 4;
    if (!gathersWeights(plan.strategy))
        return {stored, stored, stored};
    const bool fsdp2 = plan.strategy == StrategyKind::Fsdp2;
    const std::uint64_t unasked = fsdp2 ? stored : low; // fsdp2 casts only what its policy names.
    ElementBytes bytes{stored, unasked, unasked};
    if (!plan.paramDtype.empty())
        bytes.param = bytesOf(plan.paramDtype);
    if (!plan.reduceDtype.empty())
        bytes.reduce = bytesOf(plan.reduceDtype);
    else if (fsdp2)
        bytes.reduce = bytes.param;
    return bytes;
}

std::uint64_t optimizerStateBytes(const OptimizerPlan& plan, std::int64_t elements, std::uint64_t storedBytes)
{
    const auto count = static_cast<std::uint64_t>(elements);
    if (!plan.hasEightBitState())
        return stateTensors(plan) * count * storedBytes;
    const auto scales = static_cast<std::uint64_t>((elements + kEightBitBlock - 1) / kEightBitBlock);
    const bool packed = elements >= plan.min8bitSize;
    return stateTensors(plan) * (packed ? count + scales * sizeof(float) : count * sizeof(float));
}

std::vector<UnitSize> blockSizes(const WeightCatalogue& weights)
{
    std::vector<UnitSize> blocks;
    for (int unit = 0; unit < weights.unitCount(); ++unit)
        blocks.push_back({weights.unitName(unit), {}});
    for (const auto& spec : weights.specs())
        blocks[static_cast<std::size_t>(spec.unit)].weights.push_back(spec.elements());
    return blocks;
}

MemoryQuestion memoryQuestion(const RunPlan& plan, std::vector<UnitSize> blocks)
{
    const ElementBytes bytes = elementBytes(plan);
    MemoryQuestion question;
    question.stateBytes = statePerElement(plan, blocks);
    question.units = std::move(blocks);
    question.strategy = plan.strategy;
    question.shards = plan.shards;
    question.ranks = plan.ranks;
    question.storedBytes = bytes.stored;
    question.paramBytes = bytes.param;
    question.reduceBytes = bytes.reduce;
    question.passes = plan.noSync ? static_cast<int>(plan.accumulate.begin()->second) : 1;
    question.gradientViews = plan.ddp.gradientViews;
    return question;
}

std::optional<MemoryTerms> forecastMemory(const RunPlan& plan)
{
    const auto weights = modelWeights(plan.model);
    if (!weights)
        return std::nullopt;
    MemoryQuestion question = memoryQuestion(plan, blockSizes(*weights));
    question.rootAround = weights->specs().front().unit == weights->unitCount() - 1;
    return estimateMemory(question);
}

} // namespace mantissa
