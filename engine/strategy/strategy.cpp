#include "engine/strategy/strategy.h"

#include "engine/precision/precision.h"
#include "engine/strategy/fsdp.h"
#include "engine/strategy/replica.h"

#include <stdexcept>
#include <string_view>
#include <unordered_map>

namespace mantissa {

Strategy::Strategy(const std::vector<ParameterSpec>& weights)
{
    for (const auto& spec : weights) {
        m_names.push_back(spec.name);
        m_shapes.push_back(spec.shape);
    }
}

std::vector<at::Tensor> Strategy::partsOf(const NamedTensors& whole) const
{
    std::unordered_map<std::string_view, const at::Tensor*> byName;
    for (const auto& [name, tensor] : whole)
        byName.emplace(name, &tensor);
    std::vector<at::Tensor> parts(m_names.size());
    for (std::size_t i = 0; i < parts.size(); ++i) {
        const auto found = byName.find(m_names[i]);
        if (found == byName.end() || !found->second->defined())
            continue;
        if (found->second->sizes() != at::IntArrayRef(m_shapes[i]))
            throw std::invalid_argument("'" + m_names[i] + "' has another shape than in the model");
        parts[i] = partOf(found->second->detach(), i);
    }
    return parts;
}

void Strategy::loadParameters(const NamedTensors& whole)
{
    const at::NoGradGuard noGrad;
    const auto parts = partsOf(whole);
    for (std::size_t i = 0; i < parts.size(); ++i) {
        if (!parts[i].defined())
            throw std::invalid_argument("the weights lack '" + m_names[i] + "'");
    }
    for (std::size_t i = 0; i < parts.size(); ++i)
        parameters()[i].detach().copy_(parts[i]);
    endOfStep(); // what was gathered from the old weights is stale
}

std::unique_ptr<Strategy> makeStrategy(const RunPlan& plan, const Model& model,
                                       std::vector<at::Tensor> weights, Communicator& communicator)
{
    const PrecisionDtypes dtypes = precisionDtypes(plan);
    if (plan.strategy != StrategyKind::FsdpFullShard)
        return std::make_unique<ReplicaStrategy>(model, weights, dtypes.stored, communicator);
    return std::make_unique<FsdpStrategy>(
        model, weights, FlatDtypes{dtypes.stored, dtypes.param, dtypes.reduce}, communicator);
}

} // namespace mantissa
