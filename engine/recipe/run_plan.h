#pragma once

#include "engine/core/result.h"
#include "engine/recipe/setup.h"
#include "engine/recipe/strategy_plan.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace mantissa {

enum class PrecisionMode { Fp32True, Fp16True, Bf16True, Fp16Mixed, Bf16Mixed };
std::string_view precisionId(PrecisionMode mode); ///< "16-mixed", as in `trainer.precision`.
/// Nothing where it is not one that this engine trains in.
std::optional<PrecisionMode> precisionWithId(std::string_view id);

enum class OptimizerKind { Sgd, Adam, AdamW };
/// Which arithmetic an optimizer follows. All three give the same algorithm and differ in the last bits.
enum class OptimizerImpl { ForLoop, Foreach, Fused };
enum class ScheduleKind { Constant, WarmupCosine, Step };
enum class ScheduleInterval { Step, Epoch };
enum class ClipKind { None, Norm, Value };
enum class FaultKind { Inf, NaN, Factor, Stall, Throw, Spike };
enum class RunMode {
    Default, ///< Error findings of the target refuse the start.
    Faithful, ///< The engine's own call raises the target's documented error at its stage.
    Extended ///< Runs where the engine does better than the target.
};

struct OptimizerPlan {
    OptimizerKind kind = OptimizerKind::AdamW;
    OptimizerImpl impl = OptimizerImpl::Foreach;
    double learningRate = 1e-3;
    double beta1 = 0.9;
    double beta2 = 0.999;
    double eps = 1e-8;
    double weightDecay = 0.0;
    double momentum = 0.0;
    double dampening = 0.0;
    bool nesterov = false;
    bool amsgrad = false;
    bool maximize = false;
    /// Takes loss scale and found-inf itself, so nobody may unscale before it (torch:
    /// _step_supports_amp_scaling).
    bool selfUnscaling() const { return impl == OptimizerImpl::Fused; }
};

struct SchedulePlan {
    ScheduleKind kind = ScheduleKind::Constant;
    ScheduleInterval interval = ScheduleInterval::Step;
    std::int64_t warmup = 0; ///< WarmupCosine: advances of linear warm-up.
    std::int64_t total = 0; ///< WarmupCosine: advances until the least rate.
    double minRatio = 0.0; ///< WarmupCosine: least rate / base rate.
    std::int64_t stepSize = 1; ///< Step: advances between two multiplications.
    double gamma = 0.1; ///< Step: the factor.
    bool holdOnSkip = false; ///< Lightning advances on skipped steps too.
};

struct ScalerPlan {
    bool enabled = false;
    double initScale = 65536.0;
    double growthFactor = 2.0;
    double backoffFactor = 0.5;
    std::int64_t growthInterval = 2000;
};

struct ClipPlan {
    ClipKind kind = ClipKind::None;
    double value = 0.0; ///< Max norm, or the largest absolute element.
    double normType = 2.0;
};

struct MlpPlan {
    std::int64_t inputs = 784;
    std::int64_t hidden = 256;
    std::int64_t classes = 10;
    std::int64_t layers = 3; ///< Linear layers in all.
};
struct ConvNetPlan {
    std::int64_t channels1 = 8;
    std::int64_t channels2 = 16;
    std::int64_t imageSize = 28; ///< Images are square, one channel.
    std::int64_t classes = 10;
    bool batchNorm = false;
};
struct TransformerPlan {
    std::int64_t vocab = 256;
    std::int64_t context = 128;
    std::int64_t width = 128;
    std::int64_t heads = 4;
    std::int64_t layers = 2;
    double dropout = 0.0;
    bool tiedHead = false;
    bool explicitAttention = false; ///< Score matrix by hand instead of scaled_dot_product_attention.
};
using ModelPlan = std::variant<MlpPlan, ConvNetPlan, TransformerPlan>;

struct FashionMnistPlan {
    std::string folder; ///< Where the four IDX files are; empty: Debian's dataset-fashion-mnist.
    bool flat = true; ///< Rows of 784 for an MLP; else 1×28×28 images.
};
struct TextPlan {
    std::string file; ///< Any file; each byte is a token.
    std::int64_t context = 128;
};
struct SyntheticPlan {
    std::string shape = "vectors"; ///< vectors | images | tokens: what the model takes.
    std::int64_t inputs = 64;
    std::int64_t classes = 10;
    std::int64_t samples = 4096;
};
/// Recorded batches: tensors `x.<b>`/`y.<b>` or `tokens.<b>` of a safetensors file (a trace's data).
struct TracePlan {
    std::string dataFile;
    std::string initFile; ///< Initial weights, by parameter name; empty: drawn from the seed.
    std::int64_t batchesPerEpoch = 0; ///< 0: all.
};
using DataPlan = std::variant<FashionMnistPlan, TextPlan, SyntheticPlan, TracePlan>;

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
    std::int64_t everySteps = 0; ///< 0: only at the end.
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
    OptimizerPlan optimizer;
    SchedulePlan schedule;
    ScalerPlan scaler;
    ClipPlan clip;
    std::map<std::int64_t, std::int64_t> accumulate = {{0, 1}}; ///< From epoch → micro batches in a window.
    bool divideLastWindowBySize = false; ///< As Mantissa; Lightning divides by N.
    ModelPlan model = MlpPlan{};
    DataPlan data = FashionMnistPlan{};
    std::int64_t batchSize =
        64; ///< Rows per rank and micro batch, except for TracePlan (rows of the joint batch).
    std::int64_t maxEpochs = 1;
    std::int64_t maxSteps = -1; ///< Optimizer steps; -1: no limit.
    std::int64_t limitBatches = -1; ///< Batches in an epoch; -1: all.
    std::uint64_t seed = 0;
    std::vector<FaultPlan> faults;
    RunMode mode = RunMode::Default;
    std::string framework = "trainer"; ///< Whose documented errors a faithful run raises: "trainer",
                                       ///< "fabric"; "mantissa" raises none.
    CheckpointPlan checkpoints;
    bool hashParameters = false; ///< A hash of each rank's parameters after every step.
    std::int64_t probeFrom = -1; ///< Every layer is looked at from this step on; -1: never.
};

/// Fills in defaults and translates. The error says which setting this engine cannot run, and what it can.
Result<RunPlan> planRun(const Setup& setup);

} // namespace mantissa
