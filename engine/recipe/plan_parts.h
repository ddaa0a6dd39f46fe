#pragma once

#include "engine/recipe/plan_reader.h"
#include "engine/recipe/run_plan.h"

// The parts of planRun. Each reads its settings and leaves what it cannot run with the reader.
namespace mantissa {

void planPrecision(PlanReader& reader, RunPlan& plan);
void planStrategy(PlanReader& reader, RunPlan& plan);
void planOptimizer(PlanReader& reader,
                   RunPlan& plan); ///< Needs the scaler: not every optimizer goes with one.
void planBetas(PlanReader& reader, const Field& field, OptimizerPlan& optimizer);
/// Optimizers that the model brings along, instead of one of the set-up.
void planOwnOptimizers(PlanReader& reader, RunPlan& plan);
/// What does not go with them. Needs everything else.
void checkManual(PlanReader& reader, const RunPlan& plan);
void planSchedule(PlanReader& reader, RunPlan& plan); ///< Needs the optimizer: a cycle moves its momentum.
/// Arguments that the class in `section` does not have.
void refuseUnknownArguments(PlanReader& reader, const std::string& section);
void planModel(PlanReader& reader, RunPlan& plan);
void planData(PlanReader& reader, RunPlan& plan); ///< Needs the model: samples must be what it takes.
void planLoops(PlanReader& reader, RunPlan& plan);
void planLimit(PlanReader& reader, RunPlan& plan); ///< Batches of an epoch, and the least length of a run.
void planValidation(PlanReader& reader, RunPlan& plan); ///< Needs the data and the loops.
void planCallbacks(PlanReader& reader, RunPlan& plan); ///< Needs all that decides which series there are.
void planFaults(PlanReader& reader, RunPlan& plan);
void planCheckpoints(PlanReader& reader, RunPlan& plan); ///< Needs the strategy.

/// Whether planCallbacks reads a callback of that class.
bool hasCallback(std::string_view name);
/// The series that a setting names, under its own name or one that people use; empty where none is named.
std::string monitoredSeries(PlanReader& reader, const RunPlan& plan, const Field& field);
/// A wall-clock time, DD:HH:MM:SS or a map of units; 0 where there is none.
double secondsOf(PlanReader& reader, const Field& field);

} // namespace mantissa
