#pragma once

#include "engine/recipe/run_plan.h"

#include <nlohmann/json_fwd.hpp>

namespace mantissa {

/// What the engine really runs of model, data, validation and callbacks, in the set-up's words.
void addEffectiveLoops(nlohmann::json& settings, const RunPlan& plan);

} // namespace mantissa
