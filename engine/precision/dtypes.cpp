#include "engine/precision/precision.h"
#include "engine/tensor/dtype.h"

namespace mantissa {
namespace {

at::ScalarType lowDtype(PrecisionMode mode)
{
    switch (mode) {
    case PrecisionMode::Fp16True:
    case PrecisionMode::Fp16Mixed:
        return at::kHalf;
    case PrecisionMode::Bf16True:
    case PrecisionMode::Bf16Mixed:
    case PrecisionMode::Fp8Mixed: // its linear layers round further
        return at::kBFloat16;
    case PrecisionMode::Fp64True:
        return at::kDouble;
    case PrecisionMode::Fp32True:
        break;
    }
    return at::kFloat;
}

bool isMixed(PrecisionMode mode)
{
    return mode == PrecisionMode::Fp16Mixed || mode == PrecisionMode::Bf16Mixed
        || mode == PrecisionMode::Fp8Mixed;
}

at::ScalarType chosen(const std::string& name, at::ScalarType fallback)
{
    if (name.empty())
        return fallback;
    const auto type = dtypeFromName(name);
    if (!type)
        throw std::invalid_argument("'" + name + "' is no dtype");
    return *type;
}

} // namespace

bool usesLossScaler(PrecisionMode mode)
{
    return mode == PrecisionMode::Fp16Mixed;
}

PrecisionDtypes precisionDtypes(PrecisionMode mode, bool sharded)
{
    const at::ScalarType low = lowDtype(mode);
    if (!isMixed(mode))
        return {low, low, low, low, low};
    if (sharded)
        return {low, low, low, at::kFloat, low};
    return {at::kFloat, at::kFloat, at::kFloat, at::kFloat, at::kFloat};
}

PrecisionDtypes precisionDtypes(const RunPlan& plan)
{
    PrecisionDtypes dtypes = precisionDtypes(plan.precision, plan.strategy == StrategyKind::Fsdp);
    if (!gathersWeights(plan.strategy))
        return dtypes;
    const bool fsdp2 = plan.strategy == StrategyKind::Fsdp2;
    dtypes.param = chosen(plan.paramDtype, dtypes.param);
    dtypes.reduce = chosen(plan.reduceDtype, fsdp2 ? dtypes.param : dtypes.reduce);
    dtypes.input = dtypes.param;
    if (fsdp2 && !plan.shards.castInputs)
        dtypes.input.reset();
    if (fsdp2 && !plan.shards.outputDtype.empty())
        dtypes.output = chosen(plan.shards.outputDtype, dtypes.param);
    return dtypes;
}

AutocastScope::AutocastScope(bool enabled, at::ScalarType dtype) : m_enabled(enabled)
{
    if (!m_enabled)
        return;
    m_wasEnabled = at::autocast::is_autocast_enabled(at::kCPU);
    m_previous = at::autocast::get_autocast_dtype(at::kCPU);
    at::autocast::set_autocast_enabled(at::kCPU, true);
    at::autocast::set_autocast_dtype(at::kCPU, dtype);
    at::autocast::increment_nesting();
}

AutocastScope::~AutocastScope()
{
    if (!m_enabled)
        return;
    if (at::autocast::decrement_nesting() == 0)
        at::autocast::clear_cache();
    at::autocast::set_autocast_enabled(at::kCPU, m_wasEnabled);
    at::autocast::set_autocast_dtype(at::kCPU, m_previous);
}

} // namespace mantissa
