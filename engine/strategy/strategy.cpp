#include "engine/strategy/strategy.h"

#include "engine/strategy/fsdp.h"
#include "engine/strategy/replica.h"

#include <stdexcept>

namespace mantissa {
namespace {

at::ScalarType dtypeNamed(const std::string& name, at::ScalarType otherwise)
{
    if (name.empty())
        return otherwise;
    if (name == "fp32")
        return at::kFloat;
    if (name == "bf16")
        return at::kBFloat16;
    if (name == "fp16")
        return at::kHalf;
    throw std::invalid_argument("\"" + name + "\" is no dtype for sharded weights: fp32, bf16 or fp16 is");
}

FlatDtypes dtypesOf(PrecisionMode mode, bool sharded)
{
    const bool half = mode == PrecisionMode::Fp16True || mode == PrecisionMode::Fp16Mixed;
    const bool full = mode == PrecisionMode::Fp32True;
    const bool mixed = mode == PrecisionMode::Fp16Mixed || mode == PrecisionMode::Bf16Mixed;
    const at::ScalarType low = full ? at::kFloat : half ? at::kHalf : at::kBFloat16;
    const at::ScalarType stored = mixed ? at::kFloat : low;
    return sharded ? FlatDtypes{stored, low, low} : FlatDtypes{stored, stored, stored};
}

} // namespace

std::unique_ptr<Strategy> makeStrategy(const RunPlan& plan, const Model& model,
                                       std::vector<at::Tensor> weights, Communicator& communicator)
{
    const bool sharded = plan.strategy == StrategyKind::FsdpFullShard;
    const auto dtypes = dtypesOf(plan.precision, sharded);
    if (!sharded)
        return std::make_unique<ReplicaStrategy>(model, weights, dtypes.stored, communicator);
    const FlatDtypes flat = {dtypes.stored, dtypeNamed(plan.paramDtype, dtypes.param),
                             dtypeNamed(plan.reduceDtype, dtypes.reduce)};
    return std::make_unique<FsdpStrategy>(model, weights, flat, communicator);
}

} // namespace mantissa
