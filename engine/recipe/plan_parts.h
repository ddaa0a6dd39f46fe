#pragma once

#include "engine/recipe/plan_reader.h"
#include "engine/recipe/run_plan.h"

// The parts of planRun. Each reads its settings and leaves what it cannot run with the reader.
namespace mantissa {

void planPrecision(PlanReader& reader, RunPlan& plan);
void planStrategy(PlanReader& reader, RunPlan& plan);
void planOptimizer(PlanReader& reader, RunPlan& plan);
void planSchedule(PlanReader& reader, RunPlan& plan);
void planModel(PlanReader& reader, RunPlan& plan);
void planData(PlanReader& reader, RunPlan& plan); ///< Needs the model: samples must be what it takes.
void planLoops(PlanReader& reader, RunPlan& plan);
void planFaults(PlanReader& reader, RunPlan& plan);
void planCheckpoints(PlanReader& reader, RunPlan& plan); ///< Needs the strategy.

} // namespace mantissa
