#pragma once

#include "engine/core/training_service.h"
#include "engine/recipe/run_plan.h"

#include <string>

namespace mantissa {

/// What the engine runs on here.
EngineReport describeEngine();

/// Versions, processor and threads of a run, as JSON.
std::string runEnvironment(const RunPlan& plan);

/// What the engine really runs, every default filled in, as JSON in the set-up's words.
std::string effectiveSettings(const RunPlan& plan);

} // namespace mantissa
