#pragma once

#include "engine/core/training_service.h"
#include "engine/history/run_writer.h"
#include "engine/train/rank_crew.h"
#include "engine/train/rank_training.h"

#include <chrono>
#include <functional>
#include <memory>

namespace mantissa {

/// What a run needs besides its request.
struct SessionOptions {
    std::chrono::milliseconds collectiveTimeout{
        60'000}; ///< How long a rank waits for the others inside a step.
    std::chrono::milliseconds patience{10'000}; ///< How long ranks may take to end once they were told to.
    std::function<std::unique_ptr<RankSource>(const RunRequest&)> makeSource = makeTrainerSource;
    std::function<Result<std::unique_ptr<RunWriter>>(const RunStart&)> makeWriter = RunWriter::create;
};

/// Starts a run on threads of its own; returns as soon as its folder is there. It counts in `load`.
Result<std::unique_ptr<TrainingRun>> startSession(const RunRequest& request, const SessionOptions& options,
                                                  std::shared_ptr<EngineLoad> load);

} // namespace mantissa
