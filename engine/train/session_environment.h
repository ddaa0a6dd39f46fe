#pragma once

#include "engine/core/training_service.h"
#include "engine/recipe/run_plan.h"

#include <string>

namespace mantissa {

/// What the engine runs on here.
EngineReport describeEngine();

/// Lets whoever else wants the processor go first: the calling thread, and every thread it starts from now
/// on. Ranks take all cores, and a window has to answer meanwhile.
void giveWay();

/// Versions, processor and threads of a run, as JSON.
std::string runEnvironment(const RunPlan& plan);

/// What the engine really runs, every default filled in, as JSON in the set-up's words.
std::string effectiveSettings(const RunPlan& plan);

} // namespace mantissa
