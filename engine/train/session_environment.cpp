#include "engine/train/session_environment.h"

#include "engine/comm/nccl_library.h"
#include "engine/core/counted.h"
#include "engine/recipe/training_classes.h"
#include "engine/tensor/torch.h"
#include "engine/train/effective_loops.h"

#include <ATen/Version.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <dlfcn.h>
#include <sys/resource.h>
#include <thread>
#include <unistd.h>

namespace mantissa {
namespace {

using nlohmann::json;

template <typename Choice>
struct Name {
    Choice choice;
    const char* name;
};
template <typename Choice>
Name(Choice, const char*) -> Name<Choice>;

constexpr std::array kStrategies = {
    Name{StrategyKind::Single, "single"}, Name{StrategyKind::Ddp, "ddp"},
    Name{StrategyKind::Zero1, "zero1"},   Name{StrategyKind::Fsdp, "fsdp"},
    Name{StrategyKind::Fsdp2, "fsdp2"},
};
constexpr std::array kShardings = {
    Name{Sharding::Full, "full"},
    Name{Sharding::GradOp, "grad_op"},
    Name{Sharding::None, "none"},
    Name{Sharding::Hybrid, "hybrid"},
    Name{Sharding::HybridGradOp, "hybrid_grad_op"},
};
constexpr std::array kWraps = {
    Name{UnitWrap::Block, "block"},
    Name{UnitWrap::Size, "size"},
    Name{UnitWrap::Whole, "whole"},
};
constexpr std::array kImplementations = {
    Name{OptimizerImpl::ForLoop, "for-loop"},
    Name{OptimizerImpl::Foreach, "foreach"},
    Name{OptimizerImpl::Fused, "fused"},
};
constexpr std::array kSchedules = {
    Name{ScheduleKind::Constant, "constant"}, Name{ScheduleKind::WarmupCosine, "warmup-cosine"},
    Name{ScheduleKind::Step, "step"},         Name{ScheduleKind::MultiStep, "multi-step"},
    Name{ScheduleKind::Linear, "linear"},     Name{ScheduleKind::Exponential, "exponential"},
    Name{ScheduleKind::Cosine, "cosine"},     Name{ScheduleKind::OneCycle, "one-cycle"},
    Name{ScheduleKind::Plateau, "plateau"},
};
constexpr std::array kClips = {
    Name{ClipKind::None, "none"},
    Name{ClipKind::Norm, "norm"},
    Name{ClipKind::Value, "value"},
};

template <typename Choice, std::size_t Size>
const char* nameOf(const std::array<Name<Choice>, Size>& names, Choice choice)
{
    const auto found = std::find_if(names.begin(), names.end(),
                                    [choice](const Name<Choice>& entry) { return entry.choice == choice; });
    return found == names.end() ? "unknown" : found->name;
}

unsigned cores()
{
    return std::max(1U, std::thread::hardware_concurrency());
}

// "AVX512" in LibTorch's words.
std::string capability()
{
    const std::string words = at::get_cpu_capability();
    return words == "AVX512" ? "AVX-512" : words;
}

std::string cudaNote()
{
    void* driver = ::dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
    if (!driver)
        return "CUDA not found: no driver. Training runs on the processor.";
    ::dlclose(driver);
    return "A CUDA driver is here; this version trains on the processor only.";
}

std::string ncclNote()
{
    const NcclFound found = NcclLibrary::find();
    if (!found.problem.empty())
        return "NCCL cannot carry data here: " + found.problem + ".";
    return "NCCL " + ncclVersionText(found.version) + " for " + counted(found.gpus, "GPU");
}

/// What an optimizer has beside rate and weight decay.
void addOwnSettings(const OptimizerPlan& plan, json& optimizer)
{
    switch (plan.kind) {
    case OptimizerKind::Sgd:
    case OptimizerKind::Sgd8bit:
        optimizer.update(
            {{"momentum", plan.momentum}, {"dampening", plan.dampening}, {"nesterov", plan.nesterov}});
        break;
    case OptimizerKind::Adagrad:
        optimizer.update({{"lr_decay", plan.lrDecay},
                          {"initial_accumulator_value", plan.initialAccumulator},
                          {"eps", plan.eps}});
        break;
    case OptimizerKind::RmsProp:
        optimizer.update({{"alpha", plan.alpha},
                          {"momentum", plan.momentum},
                          {"centered", plan.centered},
                          {"eps", plan.eps}});
        break;
    case OptimizerKind::Lion:
    case OptimizerKind::Lion8bit:
        optimizer["betas"] = {plan.beta1, plan.beta2};
        break;
    case OptimizerKind::Lbfgs:
        optimizer.update({{"max_iter", plan.lbfgs.maxIterations},
                          {"max_eval", plan.lbfgs.maxEvaluations},
                          {"history_size", plan.lbfgs.historySize},
                          {"line_search", plan.lbfgs.strongWolfe ? "strong_wolfe" : "none"}});
        break;
    default:
        optimizer.update({{"betas", {plan.beta1, plan.beta2}}, {"eps", plan.eps}, {"amsgrad", plan.amsgrad}});
    }
}

json optimizerOf(const OptimizerPlan& plan)
{
    json optimizer = {
        {"name", optimizerName(plan.kind)},       {"implementation", nameOf(kImplementations, plan.impl)},
        {"self_unscaling", plan.selfUnscaling()}, {"lr", plan.learningRate},
        {"weight_decay", plan.weightDecay},       {"maximize", plan.maximize}};
    addOwnSettings(plan, optimizer);
    if (plan.hasEightBitState())
        optimizer.update({{"rounding", plan.quantizer == Quantizer::Nearest ? "nearest" : "bnb-cpu"},
                          {"min_8bit_size", plan.min8bitSize}});
    if (plan.decayMatricesOnly)
        optimizer["weight_decay_on"] = "matrices";
    for (const auto& group : plan.groups)
        optimizer["groups"].push_back(group.parameters);
    return optimizer;
}

/// Of a model that brings several: each by its name, and how they take turns.
json optimizersOf(const RunPlan& plan)
{
    if (plan.ownOptimizers.empty())
        return optimizerOf(plan.optimizer);
    json optimizers = {{"optimization", "manual"},
                       {"steps_of_the_first", plan.accumulate.at(0)},
                       {"max_steps_counts", "rounds of all; Lightning counts each step of each"},
                       {"order", json::array()}};
    for (const auto& own : plan.ownOptimizers) {
        optimizers["order"].push_back(own.name);
        optimizers[own.name] = optimizerOf(own.plan);
    }
    return optimizers;
}

void addOwnSettings(const SchedulePlan& plan, json& schedule)
{
    switch (plan.kind) {
    case ScheduleKind::WarmupCosine:
        schedule.update({{"warmup", plan.warmup}, {"total", plan.total}, {"min_ratio", plan.minRatio}});
        break;
    case ScheduleKind::Step:
        schedule.update({{"step_size", plan.stepSize}, {"gamma", plan.gamma}});
        break;
    case ScheduleKind::MultiStep:
        schedule.update({{"milestones", plan.milestones}, {"gamma", plan.gamma}});
        break;
    case ScheduleKind::Linear:
        schedule.update({{"start_factor", plan.startFactor},
                         {"end_factor", plan.endFactor},
                         {"total_iters", plan.total}});
        break;
    case ScheduleKind::Exponential:
        schedule["gamma"] = plan.gamma;
        break;
    case ScheduleKind::Cosine:
        schedule.update({{"T_max", plan.total}, {"eta_min", plan.leastRate}});
        break;
    case ScheduleKind::OneCycle:
        schedule.update({{"max_lr", plan.oneCycle.maxRate},
                         {"total_steps", plan.oneCycle.totalSteps},
                         {"pct_start", plan.oneCycle.upShare},
                         {"cycle_momentum", plan.oneCycle.cycleMomentum}});
        break;
    case ScheduleKind::Plateau:
        schedule.update({{"monitor", plan.plateau.monitor},
                         {"factor", plan.plateau.factor},
                         {"patience", plan.plateau.patience}});
        break;
    case ScheduleKind::Constant:
        break;
    }
}

json scheduleOf(const SchedulePlan& plan)
{
    json schedule = {{"name", nameOf(kSchedules, plan.kind)}};
    if (plan.kind == ScheduleKind::Constant)
        return schedule;
    schedule["interval"] = plan.interval == ScheduleInterval::Step ? "step" : "epoch";
    schedule["on_skipped_step"] = plan.holdOnSkip ? "hold" : "advance";
    addOwnSettings(plan, schedule);
    return schedule;
}

json scalerOf(const ScalerPlan& plan)
{
    if (!plan.enabled)
        return nullptr;
    return {{"init_scale", plan.initScale},
            {"growth_factor", plan.growthFactor},
            {"backoff_factor", plan.backoffFactor},
            {"growth_interval", plan.growthInterval}};
}

json fp8Of(const RunPlan& plan)
{
    return {{"emulated", true},
            {"layers", "linear"},
            {"forward", kE4m3.name},
            {"gradients", kE5m2.name},
            {"amax_history_len", plan.fp8.historyLength},
            {"margin", plan.fp8.margin}};
}

json accumulationOf(const RunPlan& plan)
{
    if (!plan.ownOptimizers.empty())
        return nullptr;
    json byEpoch = json::object();
    for (const auto& [epoch, batches] : plan.accumulate)
        byEpoch[std::to_string(epoch)] = batches;
    return {{"micro_batches_from_epoch", byEpoch},
            {"last_window", plan.divideLastWindowBySize ? "divided by its size" : "divided as a full one"},
            {"reduced", plan.noSync ? "once a window" : "each micro batch"}};
}

json checkpointsOf(const CheckpointPlan& plan)
{
    json checkpoints = {{"at_end", plan.atEnd}, {"keep_last", plan.keepLast}, {"sharded", plan.sharded}};
    if (plan.everyEpochs > 0)
        checkpoints["every_n_epochs"] = plan.everyEpochs;
    if (plan.everySteps > 0)
        checkpoints["every_n_steps"] = plan.everySteps;
    if (!plan.monitor.empty())
        checkpoints["best"] = {
            {"monitor", plan.monitor}, {"mode", plan.mostIsBest ? "max" : "min"}, {"keep", plan.keepBest}};
    return checkpoints;
}

constexpr int kNice = 10;

void addStrategy(json& settings, const RunPlan& plan)
{
    if (plan.strategy == StrategyKind::Ddp)
        settings["ddp"] = {{"bucket_cap_mb", plan.ddp.bucketMiB},
                           {"find_unused_parameters", plan.ddp.findUnused},
                           {"static_graph", plan.ddp.staticGraph},
                           {"gradient_as_bucket_view", plan.ddp.gradientViews}};
    if (!plan.frozen.empty())
        settings["frozen"] = plan.frozen;
    if (plan.recompute)
        settings["activation_checkpointing"] = true;
    if (gathersWeights(plan.strategy)) {
        settings["sharding"] = nameOf(kShardings, plan.shards.sharding);
        settings["replicas"] = plan.shards.replicas;
        settings["wrap"] = nameOf(kWraps, plan.shards.wrap);
        settings["param_dtype"] = plan.paramDtype.empty() ? "as the precision" : plan.paramDtype;
        settings["reduce_dtype"] = plan.reduceDtype.empty() ? "as the precision" : plan.reduceDtype;
    }
}

} // namespace

void giveWay()
{
    // Linux keeps this value per thread, and hands it down.
    (void)::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), kNice);
}

EngineReport describeEngine()
{
    return {"LibTorch " TORCH_VERSION,
            "CPU, " + capability() + ", " + counted(cores(), "core"),
            {cudaNote(), ncclNote()}};
}

std::string runEnvironment(const RunPlan& plan)
{
    const json environment = {{"mantissa", MANTISSA_VERSION},
                              {"libtorch", TORCH_VERSION},
                              {"device", "cpu"},
                              {"cpu_capability", at::get_cpu_capability()},
                              {"cores", cores()},
                              {"ranks", plan.ranks},
                              {"threads_per_rank", plan.threadsPerRank},
                              {"communicator", plan.comm == CommKind::Nccl ? "nccl" : "threads"}};
    return environment.dump();
}

std::string effectiveSettings(const RunPlan& plan)
{
    json settings = {{"precision", precisionId(plan.precision)},
                     {"strategy", nameOf(kStrategies, plan.strategy)},
                     {"ranks", plan.ranks},
                     {"threads_per_rank", plan.threadsPerRank},
                     {"optimizer", optimizersOf(plan)},
                     {"schedule", scheduleOf(plan.schedule)},
                     {"scaler", scalerOf(plan.scaler)},
                     {"accumulation", accumulationOf(plan)},
                     {"batch_size", plan.batchSize},
                     {"max_epochs", plan.maxEpochs},
                     {"seed", plan.seed},
                     {"checkpoints", checkpointsOf(plan.checkpoints)}};
    settings["clip"] = plan.clip.kind == ClipKind::None
        ? json(nullptr)
        : json{{"by", nameOf(kClips, plan.clip.kind)}, {"value", plan.clip.value}};
    if (plan.clip.kind == ClipKind::Norm)
        settings["clip"]["norm_type"] = plan.clip.normType;
    if (plan.maxSteps >= 0)
        settings["max_steps"] = plan.maxSteps;
    if (plan.limitBatches >= 0)
        settings["limit_batches"] = plan.limitBatches;
    if (plan.precision == PrecisionMode::Fp8Mixed)
        settings["fp8"] = fp8Of(plan);
    addStrategy(settings, plan);
    addEffectiveLoops(settings, plan);
    return settings.dump();
}

} // namespace mantissa
