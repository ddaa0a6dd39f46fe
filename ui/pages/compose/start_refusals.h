#pragma once

#include "engine/recipe/run_plan.h"
#include "engine/rules/check.h"

#include <vector>

namespace mantissa::ui {

/// Errors of the target that keep a run from starting in a mode. In faithful mode the engine raises those at
/// unscale and clip itself, at their stage; in extended mode it goes on where it does better.
std::vector<Finding> startRefusals(const CheckReport& report, RunMode mode);

} // namespace mantissa::ui
