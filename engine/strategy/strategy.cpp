#include "engine/strategy/strategy.h"

#include "engine/precision/precision.h"
#include "engine/strategy/fsdp.h"
#include "engine/strategy/replica.h"

namespace mantissa {

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
