#pragma once

#include "engine/core/training_service.h"
#include "engine/train/rank_training.h"

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>

namespace mantissa {

/// What a run needs besides its request.
struct SessionOptions {
    std::chrono::milliseconds collectiveTimeout{
        60'000}; ///< How long a rank waits for the others inside a step.
    std::chrono::milliseconds patience{10'000}; ///< How long ranks may take to end once they were told to.
    std::function<std::unique_ptr<RankSource>(const RunPlan&)> makeSource = makeTrainerSource;
};

/// Starts a run on threads of its own; returns as soon as its folder is there. `active` counts runs
/// that have not ended.
Result<std::unique_ptr<TrainingRun>> startSession(const RunRequest& request, const SessionOptions& options,
                                                  std::shared_ptr<std::atomic<int>> active);

} // namespace mantissa
