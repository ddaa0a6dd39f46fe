#pragma once

#include "engine/core/result.h"
#include "engine/core/shadow_report.h"

namespace mantissa {

/// Makes the step twice, with the Trainer of every run, and compares by layer. See ShadowRequest and
/// ShadowRow.
Result<ShadowReport> shadowStep(const ShadowRequest& request);

} // namespace mantissa
