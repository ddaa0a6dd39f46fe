#include "engine/strategy/strategy.h"

#include "engine/core/thrown_error.h"
#include "engine/precision/precision.h"
#include "engine/strategy/frozen.h"
#include "engine/strategy/replica.h"
#include "engine/strategy/sharded.h"

#include <algorithm>
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

bool isFrozen(const std::string& name, const std::vector<std::string>& frozen)
{
    return std::any_of(frozen.begin(), frozen.end(),
                       [&](const std::string& beginning) { return name.starts_with(beginning); });
}

std::unique_ptr<Strategy> makeStrategy(const RunPlan& plan, const Model& model, const WeightSource& weights,
                                       Communicator& communicator)
{
    if (const auto known = checkFrozen(model.parameters(), plan.frozen); !known)
        throw ThrownError(known.error());
    const PrecisionDtypes dtypes = precisionDtypes(plan);
    if (plan.strategy == StrategyKind::Single || plan.strategy == StrategyKind::Ddp)
        return std::make_unique<ReplicaStrategy>(
            model, weights, ReplicaOptions{dtypes.stored, plan.ddp, plan.frozen}, communicator);
    ShardOptions options;
    options.dtypes = {dtypes.stored, dtypes.param, dtypes.reduce};
    options.plan = plan.shards;
    options.stateOnly = plan.strategy == StrategyKind::Zero1;
    options.keepsUnsynced = plan.strategy != StrategyKind::Fsdp2;
    options.frozen = plan.frozen;
    return std::make_unique<ShardedStrategy>(model, weights, std::move(options), communicator);
}

} // namespace mantissa
