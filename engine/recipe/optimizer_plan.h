#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace mantissa {

enum class OptimizerKind {
    Sgd,
    Adam,
    AdamW,
    Adagrad,
    RmsProp,
    Lion,
    Lbfgs,
    Adam8bit, ///< The last four keep the states of large tensors in 8 bits.
    AdamW8bit,
    Lion8bit,
    Sgd8bit,
};
/// Which arithmetic an optimizer follows. All three give the same algorithm and differ in the last bits.
enum class OptimizerImpl { ForLoop, Foreach, Fused };
/// How an 8-bit state is rounded.
enum class Quantizer {
    Nearest, ///< To the nearest entry of the map; zero stays zero.
    Bins, ///< As bitsandbytes' CPU kernels do it: to the entry nearest to the middle of one of 65,536 bins.
};

/// L-BFGS evaluates loss and gradients several times in one step.
struct LbfgsPlan {
    std::int64_t maxIterations = 20;
    std::int64_t maxEvaluations = 25;
    double toleranceGradient = 1e-7;
    double toleranceChange = 1e-9;
    std::int64_t historySize = 100;
    bool strongWolfe = false; ///< A line search; without it every step has the length of the learning rate.
};

/// Parameters that go their own way.
struct GroupPlan {
    std::string parameters = {}; ///< A pattern over names; `*` stands for anything.
    std::optional<double> learningRate = {};
    std::optional<double> weightDecay = {};
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
    double alpha = 0.99; ///< RMSprop: how long the mean square remembers.
    bool centered = false; ///< RMSprop: divides by the deviation instead of the root mean square.
    double lrDecay = 0.0; ///< Adagrad.
    double initialAccumulator = 0.0; ///< Adagrad.
    LbfgsPlan lbfgs = {};
    Quantizer quantizer = Quantizer::Nearest; ///< 8-bit states …
    std::int64_t min8bitSize = 4096; ///< … of tensors with at least so many elements.
    bool decayMatricesOnly = false; ///< No weight decay on norms and biases: tensors of one dimension.
    std::vector<GroupPlan> groups = {}; ///< The first whose pattern fits counts.

    /// Takes loss scale and found-inf itself, so nobody may unscale before it (torch:
    /// _step_supports_amp_scaling).
    bool selfUnscaling() const { return impl == OptimizerImpl::Fused; }
    bool needsClosure() const { return kind == OptimizerKind::Lbfgs; }
    bool hasEightBitState() const { return kind >= OptimizerKind::Adam8bit; }
    /// What a cycle moves: SGD and RMSprop have a momentum, the others their first beta.
    bool hasMomentum() const
    {
        return kind == OptimizerKind::Sgd || kind == OptimizerKind::RmsProp || kind == OptimizerKind::Sgd8bit;
    }
};

/// An optimizer of a model that brings several and steps each by itself: manual optimization.
struct OwnOptimizer {
    std::string name; ///< "generator": the names of its weights begin so.
    std::string series; ///< "g", as in loss_g.
    OptimizerPlan plan;
};

enum class ScheduleKind {
    Constant,
    WarmupCosine,
    Step,
    MultiStep,
    Linear,
    Exponential,
    Cosine,
    OneCycle,
    Plateau,
};
enum class ScheduleInterval { Step, Epoch };

struct OneCyclePlan {
    double maxRate = 0.0;
    std::int64_t totalSteps = 0;
    double upShare = 0.3; ///< Of all steps, those in which the rate rises.
    bool linear = false; ///< Straight lines instead of half waves of a cosine.
    bool cycleMomentum = true; ///< Momentum, or beta1, goes the other way.
    double baseMomentum = 0.85;
    double maxMomentum = 0.95;
    double divFactor = 25.0; ///< Largest rate / first rate.
    double finalDivFactor = 1e4; ///< First rate / last rate.
    bool threePhase = false; ///< Down to the first rate, then to the last one.

    /// The advances at which its phases end, the first beginning at 0.
    std::vector<double> phaseEnds() const
    {
        const auto total = static_cast<double>(totalSteps);
        const double rise = upShare * total - 1.0;
        if (threePhase)
            return {rise, 2.0 * upShare * total - 2.0, total - 1.0};
        return {rise, total - 1.0};
    }
};

struct PlateauPlan {
    std::string monitor = "loss";
    bool wantsLarge = false;
    double factor = 0.1;
    std::int64_t patience = 10;
    double threshold = 1e-4;
    bool absolute = false; ///< The threshold is a difference, not a share.
    std::int64_t cooldown = 0;
    double leastRate = 0.0;
    double eps = 1e-8; ///< Smaller changes of the rate are not made.
};

struct SchedulePlan {
    ScheduleKind kind = ScheduleKind::Constant;
    ScheduleInterval interval = ScheduleInterval::Step;
    std::int64_t frequency = 1; ///< Advances only at every n-th batch of an epoch, or epoch.
    std::int64_t warmup = 0; ///< WarmupCosine: advances of linear warm-up.
    std::int64_t total = 0; ///< WarmupCosine, Cosine, Linear: advances until the last rate.
    double minRatio = 0.0; ///< WarmupCosine: least rate / base rate.
    double leastRate = 0.0; ///< Cosine.
    std::int64_t stepSize = 1; ///< Step: advances between two multiplications.
    std::vector<std::int64_t> milestones = {}; ///< MultiStep: the advances at which it multiplies.
    double gamma = 0.1; ///< Step, MultiStep, Exponential: the factor.
    double startFactor = 1.0 / 3.0; ///< Linear: the first rate / base rate …
    double endFactor = 1.0; ///< … and the last one's.
    OneCyclePlan oneCycle = {};
    PlateauPlan plateau = {};
    bool holdOnSkip = false; ///< Lightning advances on skipped steps too.

    bool movesMomentum() const { return kind == ScheduleKind::OneCycle && oneCycle.cycleMomentum; }
};

struct ScalerPlan {
    bool enabled = false;
    double initScale = 65536.0;
    double growthFactor = 2.0;
    double backoffFactor = 0.5;
    std::int64_t growthInterval = 2000;
    double floor = 1.0; ///< A scale that falls below it is worth an event.
    std::map<std::int64_t, double> byHand = {}; ///< Step → the scale that is set before it.
};

} // namespace mantissa
