#pragma once

#include "engine/comm/communicator.h"
#include "engine/core/result.h"
#include "engine/precision/refused_call.h"
#include "engine/recipe/run_plan.h"
#include "engine/train/layer_sink.h"
#include "engine/train/step_report.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <stop_token>

namespace mantissa {

class CallbackList;
class Model;
class Precision;
class Strategy;
struct TrainerState;

/// What all ranks of a run share: the opened data with its loader thread, and the initial weights.
/// Made on one thread before the ranks start; afterwards each rank uses its own part. Outlives the trainers.
class PreparedRun;

/// Opens the data, draws or reads the initial weights, or reads the checkpoint that the run goes on from,
/// sets LibTorch's thread count. Errors say which setting is at fault.
Result<std::shared_ptr<PreparedRun>> prepareRun(const RunPlan& plan,
                                                const std::filesystem::path& checkpoint = {});
std::int64_t totalSteps(const PreparedRun& prepared); ///< Optimizer steps of the whole run.
void closeData(PreparedRun& prepared); ///< Wakes ranks that wait for a batch (they throw) and ends the
                                       ///< loader. From any thread.

/// Where a test or a benchmark may put something else in: the defaults are the real thing.
struct TrainerSeams {
    std::function<std::unique_ptr<Precision>(const RunPlan&, Communicator&)> makePrecision;
    std::function<void(CallbackList&)> addCallbacks;
    LayerSink onLayer; ///< Is shown the outputs and gradients of every layer.
    bool measures = true; ///< False: norms, accuracy and update statistics stay 0, to know what they cost.
};

/// Where a rank is: for the message when it fails.
struct TrainerPlace {
    Stage stage = Stage::Setup;
    std::int64_t step = 0;
};

/// One rank's training: weights, optimizer, scaler, schedule. Every call comes from the rank's own thread;
/// all ranks make the same calls in the same order, since most of them communicate. Throws what LibTorch
/// throws, and RefusedCall in a faithful run; place() then tells where.
class Trainer {
public:
    Trainer(std::shared_ptr<PreparedRun> prepared, Communicator& communicator, TrainerSeams seams = {});
    ~Trainer();
    Trainer(const Trainer&) = delete;
    Trainer& operator=(const Trainer&) = delete;

    bool finished() const; ///< maxEpochs or maxSteps are reached.
    /// One optimizer step: a whole accumulation window. `stop` ends an injected stall early.
    StepReport step(std::stop_token stop = {});

    /// May be read from another thread while a step runs.
    TrainerPlace place() const;

    /// All that a run needs to go on as if it had never stopped. Whole and on rank 0 alone, or with sharded
    /// checkpoints each rank's own part.
    TrainerState state();

    Strategy& strategy();
    Model& model();

private:
    class Impl;
    std::unique_ptr<Impl> m_impl;
};

} // namespace mantissa
