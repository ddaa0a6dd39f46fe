#pragma once

#include "engine/recipe/run_plan.h"
#include "engine/tensor/torch.h"

#include <memory>
#include <string_view>

namespace mantissa {

/// dtypes of one precision: gathered weights and compute, gradient reduction, buffers, and what parameters are stored in.
struct PrecisionDtypes {
    at::ScalarType param;
    at::ScalarType reduce;
    at::ScalarType buffer;
    at::ScalarType stored;
    at::ScalarType input; ///< What float inputs are converted to before forward.
};

/// Lightning's table for plain precision plugins, and for FSDP's (fabric and pytorch plugins/precision/{amp,half,fsdp}.py).
PrecisionDtypes precisionDtypes(PrecisionMode mode, bool sharded);
bool usesLossScaler(PrecisionMode mode); ///< 16-mixed only.

/// Autocast on the CPU for the life of the object, on this thread; the weight-cast cache is cleared at the end.
class AutocastScope {
public:
    AutocastScope(bool enabled, at::ScalarType dtype);
    ~AutocastScope();
    AutocastScope(const AutocastScope&) = delete;
    AutocastScope& operator=(const AutocastScope&) = delete;

private:
    bool m_enabled;
    bool m_wasEnabled = false;
    at::ScalarType m_previous = at::kBFloat16;
};

} // namespace mantissa
