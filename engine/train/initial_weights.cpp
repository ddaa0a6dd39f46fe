#include "engine/train/initial_weights.h"

#include "engine/model/gpt2_names.h"
#include "engine/model/model.h"

namespace mantissa {
namespace {

/// A file made for longer rows serves shorter ones too: it has an embedding for each of their places.
void cutPositions(NamedTensors& tensors, const TransformerPlan& plan)
{
    for (auto& [name, tensor] : tensors) {
        if (name == "pos.weight" && tensor.dim() == 2 && tensor.size(0) > plan.context)
            tensor = tensor.narrow(0, 0, plan.context);
    }
}

Result<InitialTensors> readInitial(const RunPlan& plan, const std::string& file)
{
    auto tensors = readSafetensors(file);
    if (!tensors)
        return tensors.error();
    const auto* transformer = std::get_if<TransformerPlan>(&plan.model);
    const bool gpt2 = transformer && areGpt2Weights(*tensors);
    if (gpt2)
        *tensors = fromGpt2(*tensors);
    if (transformer)
        cutPositions(*tensors, *transformer);
    auto initial = initialTensors(plan, *tensors, file);
    if (!initial && gpt2)
        return Error{
            initial.error().code, initial.error().message,
            "GPT-2 small has width 768, 12 layers, 12 heads, vocab 50257 and context 1024, with learned "
            "positions, layer norm and gelu_tanh."};
    if (!initial)
        return initial.error();
    for (auto& weight : initial->weights)
        weight = weight.to(at::kFloat).contiguous();
    return initial;
}

} // namespace

Result<InitialTensors> makeInitialTensors(const RunPlan& plan)
{
    if (!plan.weightsFile.empty())
        return readInitial(plan, plan.weightsFile);
    const auto* trace = std::get_if<TracePlan>(&plan.data);
    if (trace && !trace->initFile.empty())
        return readInitial(plan, trace->initFile);
    if (std::holds_alternative<ScriptPlan>(plan.model)) // once here, so that a bad file is no rank's failure
        return InitialTensors{initialWeights(plan.model, plan.seed), {}};
    return InitialTensors{};
}

} // namespace mantissa
