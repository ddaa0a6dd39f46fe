#pragma once

#include "engine/comm/rank_group.h"
#include "engine/core/result.h"
#include "engine/core/training_service.h"
#include "engine/train/step_report.h"
#include "engine/train/trainer.h"
#include "engine/train/trainer_state.h"

#include <chrono>
#include <cstdint>
#include <memory>
#include <stop_token>

namespace mantissa {

/// What a session drives on one rank: a Trainer, or in tests something that fails on purpose. Used by its
/// rank's thread, except place(), which any thread may ask.
class RankTraining {
public:
    virtual ~RankTraining() = default;

    virtual bool finished() const = 0;
    virtual StepReport step(std::stop_token stop) = 0;
    virtual TrainerState state() = 0;
    virtual TrainerPlace place() const = 0;
};

/// Makes the trainings of one run, and holds what they share.
class RankSource {
public:
    virtual ~RankSource() = default;

    virtual Result<void> prepare() = 0; ///< Once, on the session's thread, before any rank starts.
    virtual std::int64_t totalSteps() const = 0;
    /// Where the ranks meet: here among threads. NotHere where what the plan asks for is missing.
    virtual Result<std::shared_ptr<RankGroup>> meet(int ranks, std::chrono::milliseconds timeout);
    virtual std::unique_ptr<RankTraining> make(Communicator& communicator) = 0; ///< On the rank's thread.
    virtual void close() noexcept = 0; ///< Wakes ranks that wait for data. From any thread, after prepare().
};

/// The real one.
std::unique_ptr<RankSource> makeTrainerSource(const RunRequest& request);

} // namespace mantissa
