#pragma once

#include "engine/rules/reading.h"

#include <vector>

namespace mantissa {

struct ClipConflict {
    const PrecisionReading& precision;
    const OptimizerReading& optimizer;
    const ClipReading& clip;
};

/// Ways out where clipping meets an optimizer that unscales by itself. All that documents name are listed;
/// those that turn out not to help are dropped when their consequences are worked out.
std::vector<Fix> selfUnscalingFixes(const RuleContext& context, const ClipConflict& conflict);

/// Ways out where the Trainer is to clip by norm under FSDP.
std::vector<Fix> fsdpNormFixes(const RuleContext& context, const ClipConflict& conflict);

} // namespace mantissa
