#pragma once

#include "app/cli/interrupt_watch.h"
#include "engine/core/training_service.h"

namespace mantissa::cli {

struct WatchedEnd {
    RunSummary summary;
    bool interrupted = false;
};

/// Shows a run's progress and events until it ends. Ctrl+C asks it to stop with a checkpoint; a second one,
/// or a rank that does not answer within a minute, ends the process at once.
WatchedEnd watchTraining(TrainingRun& run, InterruptWatch& interrupts);

} // namespace mantissa::cli
