#pragma once

#include "engine/core/result.h"
#include "engine/numerics/delayed_scale.h"
#include "engine/recipe/callback_plan.h"
#include "engine/recipe/data_plan.h"
#include "engine/recipe/model_plan.h"
#include "engine/recipe/optimizer_plan.h"
#include "engine/recipe/setup.h"
#include "engine/recipe/strategy_plan.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mantissa {

enum class PrecisionMode { Fp32True, Fp16True, Bf16True, Fp16Mixed, Bf16Mixed, Fp64True, Fp8Mixed };
std::string_view precisionId(PrecisionMode mode); ///< "16-mixed", as in `trainer.precision`.
/// Nothing where it is not one that this engine trains in.
std::optional<PrecisionMode> precisionWithId(std::string_view id);

enum class ClipKind { None, Norm, Value };
enum class FaultKind { Inf, NaN, Factor, Stall, Throw, Spike };
enum class RunMode {
    Default, ///< Error findings of the target refuse the start.
    Faithful, ///< The engine's own call raises the target's documented error at its stage.
    Extended ///< Runs where the engine does better than the target.
};

struct ClipPlan {
    ClipKind kind = ClipKind::None;
    double value = 0.0; ///< Max norm, or the largest absolute element.
    double normType = 2.0;
};

/// A fault made on purpose. `step` is the optimizer step, 0-based, as recorded.
struct FaultPlan {
    std::int64_t step = 0;
    int rank = -1; ///< -1: every rank.
    FaultKind kind = FaultKind::Inf;
    double value = 0.0; ///< Factor: multiplies the loss; Spike: multiplies it too; Stall: seconds.
    std::int64_t batch = -1; ///< Factor only: this global batch index instead of `step` when ≥ 0.
    bool afterBackward = false; ///< Inf/NaN go into one gradient element of the rank alone, before any
                                ///< reduction, else into the batch's loss.
    bool afterReduction = false; ///< … or into the first element of what the reduction left on the rank.
};

/// When a training's state is written, and what of it stays. A stopped run writes one whatever this says.
struct CheckpointPlan {
    bool atEnd = true;
    std::int64_t everySteps = 0; ///< 0: not by steps.
    std::int64_t everyEpochs = 0; ///< 0: not by epochs.
    /// With the end of such an epoch, or with its validations; none: with validation unless that runs once in
    /// every epoch, or never.
    std::optional<bool> onTrainEpochEnd;
    std::int64_t keepLast = 1; ///< The newest so many stay; -1: all.
    std::string monitor; ///< A series of the whole run: the best by it stay as well. Empty: none.
    bool mostIsBest = false;
    std::int64_t keepBest = 1; ///< -1: all. Counts only with a monitor.
    bool sharded = false; ///< Each rank writes what it has, in a file of its own.
};

/// Everything the engine needs to train a set-up, defaults filled in. A plain value.
struct RunPlan {
    PrecisionMode precision = PrecisionMode::Fp32True;
    StrategyKind strategy = StrategyKind::Single;
    DdpPlan ddp;
    ShardPlan shards;
    CommKind comm = CommKind::Threads;
    std::vector<std::string> frozen; ///< Weights whose names begin with one of these get no gradient.
    bool recompute = false; ///< Activation checkpointing: the forward pass of a unit runs again in backward.
    int ranks = 1;
    int threadsPerRank = 1;
    bool explicitUnscale =
        false; ///< Unscale before the step even where the optimizer could (needed for clipping).
    bool noSync = true; ///< No reduction inside an accumulation window.
    std::string reduceDtype; ///< FSDP: "fp32", "bf16", "fp16"; empty: the precision's table.
    std::string paramDtype; ///< FSDP: dtype of gathered weights; empty: the precision's table.
    bool autocast = true; ///< Mixed precision without sharding: run the forward pass in the autocast context.
    OptimizerPlan optimizer; ///< Of automatic optimization; else the first of the model's own.
    /// Of manual optimization, in the order of their steps; empty: it is automatic. The first takes a step on
    /// each batch of a window, the others one on its last.
    std::vector<OwnOptimizer> ownOptimizers;
    SchedulePlan schedule;
    ScalerPlan scaler;
    DelayedScaleRule fp8; ///< Of fp8-mixed.
    ClipPlan clip;
    std::map<std::int64_t, std::int64_t> accumulate = {{0, 1}}; ///< From epoch → batches in a window.
    bool divideLastWindowBySize = false; ///< As Mantissa; Lightning divides by N.
    ModelPlan model = MlpPlan{};
    std::string weightsFile; ///< First weights, as a safetensors file; empty: drawn from the seed.
    DataPlan data = FashionMnistPlan{};
    ValidationPlan validation;
    std::vector<CallbackPlan> callbacks; ///< In the order in which they are written, and called.
    std::int64_t batchSize =
        64; ///< Rows per rank and micro batch, except for TracePlan (rows of the joint batch).
    std::int64_t maxEpochs = 1;
    std::int64_t maxSteps = -1; ///< Optimizer steps; -1: no limit.
    std::int64_t limitBatches = -1; ///< Batches in an epoch; -1: all.
    double limitShare = 1.0; ///< … or a share of them, where there is no number.
    std::int64_t minEpochs = 0; ///< What asks to stop is heard after these only.
    std::int64_t minSteps = 0;
    bool trial = false; ///< A few batches to see that all works: callbacks neither stop nor save.
    std::uint64_t seed = 0;
    std::vector<FaultPlan> faults;
    RunMode mode = RunMode::Default;
    std::string framework = "trainer"; ///< Whose documented errors a faithful run raises: "trainer",
                                       ///< "fabric"; "mantissa" raises none.
    CheckpointPlan checkpoints;
    bool hashParameters = false; ///< A hash of each rank's parameters after every step.
    std::int64_t probeFrom = -1; ///< Every layer is looked at from this step on; -1: never.
};

/// The series that each of the model's own optimizers has: "loss_d", "grad_norm_d".
std::vector<std::string> ownSeries(const RunPlan& plan);

/// Fills in defaults and translates. The error says which setting this engine cannot run, and what it can.
Result<RunPlan> planRun(const Setup& setup);

} // namespace mantissa
