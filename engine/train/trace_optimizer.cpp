#include "engine/train/trace_optimizer.h"

#include "engine/train/trace_choice.h"

namespace mantissa {

using Json = nlohmann::json;

namespace {

constexpr std::array kOptimizers = {
    Choice<OptimizerKind>{"sgd", OptimizerKind::Sgd},
    Choice<OptimizerKind>{"adam", OptimizerKind::Adam},
    Choice<OptimizerKind>{"adamw", OptimizerKind::AdamW},
    Choice<OptimizerKind>{"adagrad", OptimizerKind::Adagrad},
    Choice<OptimizerKind>{"rmsprop", OptimizerKind::RmsProp},
};
constexpr std::array kImpls = {
    Choice<OptimizerImpl>{"forloop", OptimizerImpl::ForLoop},
    Choice<OptimizerImpl>{"foreach", OptimizerImpl::Foreach},
    Choice<OptimizerImpl>{"fused", OptimizerImpl::Fused},
};
constexpr std::array kSchedules = {
    Choice<ScheduleKind>{"constant", ScheduleKind::Constant},
    Choice<ScheduleKind>{"warmup_cosine", ScheduleKind::WarmupCosine},
    Choice<ScheduleKind>{"step", ScheduleKind::Step},
    Choice<ScheduleKind>{"onecycle", ScheduleKind::OneCycle},
};

OneCyclePlan cycleOf(const Json& json)
{
    OneCyclePlan plan;
    plan.maxRate = json.at("max_lr");
    plan.totalSteps = json.at("total_steps");
    plan.upShare = json.value("pct_start", plan.upShare);
    plan.linear = json.value("anneal_strategy", "cos") == "linear";
    plan.cycleMomentum = json.value("cycle_momentum", plan.cycleMomentum);
    plan.baseMomentum = json.value("base_momentum", plan.baseMomentum);
    plan.maxMomentum = json.value("max_momentum", plan.maxMomentum);
    plan.divFactor = json.value("div_factor", plan.divFactor);
    plan.finalDivFactor = json.value("final_div_factor", plan.finalDivFactor);
    plan.threePhase = json.value("three_phase", plan.threePhase);
    return plan;
}

} // namespace

OptimizerPlan traceOptimizer(const Json& json)
{
    OptimizerPlan plan;
    plan.kind = choose(json.at("type"), kOptimizers, "the optimizer");
    plan.impl = json.contains("impl") ? choose(json.at("impl"), kImpls, "the optimizer code path")
                                      : OptimizerImpl::ForLoop;
    plan.learningRate = json.at("lr");
    if (json.contains("betas")) {
        plan.beta1 = json["betas"].at(0);
        plan.beta2 = json["betas"].at(1);
    }
    plan.eps = json.value("eps", plan.eps);
    plan.weightDecay = json.value("weight_decay", 0.0);
    plan.momentum = json.value("momentum", 0.0);
    plan.dampening = json.value("dampening", 0.0);
    plan.nesterov = json.value("nesterov", false);
    plan.amsgrad = json.value("amsgrad", false);
    plan.maximize = json.value("maximize", false);
    plan.alpha = json.value("alpha", plan.alpha);
    plan.centered = json.value("centered", false);
    plan.lrDecay = json.value("lr_decay", 0.0);
    plan.initialAccumulator = json.value("initial_accumulator_value", 0.0);
    if (plan.kind == OptimizerKind::RmsProp && plan.impl == OptimizerImpl::Fused)
        throw TraceLack("RMSprop with a fused kernel");
    return plan;
}

SchedulePlan traceSchedule(const Json& json)
{
    SchedulePlan plan;
    plan.kind = choose(json.at("type"), kSchedules, "the schedule");
    plan.interval =
        json.value("interval", "step") == "epoch" ? ScheduleInterval::Epoch : ScheduleInterval::Step;
    plan.warmup = json.value("warmup", plan.warmup);
    plan.total = json.value("total", plan.total);
    plan.minRatio = json.value("min_ratio", plan.minRatio);
    plan.stepSize = json.value("step_size", plan.stepSize);
    plan.gamma = json.value("gamma", plan.gamma);
    if (plan.kind == ScheduleKind::OneCycle)
        plan.oneCycle = cycleOf(json);
    return plan;
}

} // namespace mantissa
