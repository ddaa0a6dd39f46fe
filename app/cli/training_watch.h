#pragma once

#include "app/interrupt_watch.h"
#include "engine/core/training_service.h"

#include <optional>

namespace mantissa::cli {

struct WatchedEnd {
    RunSummary summary;
    bool interrupted = false;
    std::optional<ErrorCode> beforeStart; ///< Why it failed before its first step.
    bool leftAtOnce = false; ///< A step still runs: the process can only be left by _exit.
};

/// Shows a run's progress and events until it ends. Ctrl+C asks it to stop with a checkpoint; a second one,
/// or a step that is not through after `grace`, leaves it where it is.
WatchedEnd watchTraining(TrainingRun& run, InterruptWatch& interrupts, std::chrono::milliseconds grace);

} // namespace mantissa::cli
