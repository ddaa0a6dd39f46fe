#pragma once

#include "engine/metrics/sample.h"
#include "engine/train/step_report.h"

#include <vector>

namespace mantissa {

/// What happened in a step that a person would want to find again. `reports` are those of all ranks, by rank.
std::vector<RunEvent> eventsOf(const std::vector<StepReport>& reports, double time);

/// The stages that the first step went through, each once, in their order: to hold against the plan of the
/// step.
RunEvent stageTrace(const StepReport& first, double time);

} // namespace mantissa
