#pragma once

#include "engine/recipe/optimizer_plan.h"

#include <nlohmann/json.hpp>

namespace mantissa {

/// A trace's optimizer and schedule as plans. Throw where this engine lacks something, or the JSON is not
/// sound.
OptimizerPlan traceOptimizer(const nlohmann::json& json);
SchedulePlan traceSchedule(const nlohmann::json& json);

} // namespace mantissa
