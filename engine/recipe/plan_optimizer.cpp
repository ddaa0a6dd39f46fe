#include "engine/recipe/class_object.h"
#include "engine/recipe/fields.h"
#include "engine/recipe/plan_parts.h"

#include <algorithm>
#include <array>

namespace mantissa {

namespace {

struct OptimizerName {
    std::string_view name;
    OptimizerKind kind;
    double weightDecay; ///< torch's default.
};

constexpr std::array kOptimizers = {
    OptimizerName{"SGD", OptimizerKind::Sgd, 0.0},
    OptimizerName{"Adam", OptimizerKind::Adam, 0.0},
    OptimizerName{"AdamW", OptimizerKind::AdamW, 0.01},
};

OptimizerImpl implementation(PlanReader& reader)
{
    const bool fused = reader.flag(field::fused);
    const bool foreach = reader.flag(field::foreach);
    if (fused && foreach)
        reader.fail("The optimizer is both fused and foreach, which torch refuses.", "Keep one of the two.");
    if (fused)
        return OptimizerImpl::Fused;
    return foreach ? OptimizerImpl::Foreach
                   : OptimizerImpl::ForLoop; // torch loops on the CPU where nothing is said.
}

void planBetas(PlanReader& reader, OptimizerPlan& optimizer)
{
    const auto betas = reader.setup().effective(field::betas);
    const auto& list = betas.asList();
    const auto isShare = [](const Value& v) {
        return v.isNumber() && v.asDouble() >= 0.0 && v.asDouble() < 1.0;
    };
    if (list.size() != 2 || !std::all_of(list.begin(), list.end(), isShare)) {
        reader.fail("optimizer.init_args.betas is " + betas.text() + ".",
                    "It is two numbers from 0 up to 1, such as [0.9, 0.999].");
        return;
    }
    optimizer.beta1 = list[0].asDouble();
    optimizer.beta2 = list[1].asDouble();
}

void planMomentum(PlanReader& reader, OptimizerPlan& optimizer)
{
    optimizer.momentum = reader.number(field::momentum);
    optimizer.dampening = reader.number(field::dampening);
    optimizer.nesterov = reader.flag(field::nesterov);
    if (optimizer.nesterov && (optimizer.momentum <= 0.0 || optimizer.dampening != 0.0))
        reader.fail("Nesterov needs momentum, and no dampening.",
                    "Set momentum above 0 and remove dampening, or remove nesterov.");
}

void planWarmupCosine(PlanReader& reader, RunPlan& plan)
{
    auto& schedule = plan.schedule;
    schedule.kind = ScheduleKind::WarmupCosine;
    schedule.interval = ScheduleInterval::Step;
    schedule.warmup = reader.integer(field::scheduleWarmup);
    schedule.total = reader.integer(field::scheduleTotal, plan.maxSteps);
    schedule.minRatio = reader.number(field::scheduleMinRatio);
    if (schedule.total < 1)
        reader.fail("WarmupCosine does not know where it ends.",
                    "Set lr_scheduler.init_args.total, or trainer.max_steps.");
    else if (schedule.warmup >= schedule.total)
        reader.fail("The warm-up of " + std::to_string(schedule.warmup)
                        + " is not shorter than the whole schedule of " + std::to_string(schedule.total)
                        + ".",
                    "Shorten lr_scheduler.init_args.warmup.");
}

void planSteps(PlanReader& reader, RunPlan& plan)
{
    auto& schedule = plan.schedule;
    schedule.kind = ScheduleKind::Step;
    schedule.interval = ScheduleInterval::Epoch;
    schedule.stepSize = reader.integer(field::scheduleStepSize, 0);
    schedule.gamma = reader.number(field::scheduleGamma);
    if (schedule.stepSize < 1)
        reader.fail("StepLR does not know its step_size.", "Set lr_scheduler.init_args.step_size.");
}

} // namespace

void planOptimizer(PlanReader& reader, RunPlan& plan)
{
    const auto& written = reader.setup()[field::optimizerClass];
    if (!written.isSet()) {
        reader.fail("The set-up names no optimizer.",
                    "Set optimizer.class_path to torch.optim.SGD, torch.optim.Adam or torch.optim.AdamW.");
        return;
    }
    const auto path = written.asString();
    const auto name = shortClassName(path);
    const auto* found =
        std::find_if(kOptimizers.begin(), kOptimizers.end(), [&](const auto& o) { return o.name == name; });
    if (found == kOptimizers.end() || (path != name && !path.starts_with("torch.optim."))) {
        reader.cannot(field::optimizerClass.path, written,
                      "It has torch.optim.SGD, torch.optim.Adam and torch.optim.AdamW.");
        return;
    }
    auto& optimizer = plan.optimizer;
    optimizer.kind = found->kind;
    optimizer.impl = implementation(reader);
    optimizer.learningRate = reader.number(field::learningRate);
    optimizer.eps = reader.number(field::eps);
    optimizer.weightDecay = reader.number(field::weightDecay, found->weightDecay);
    optimizer.amsgrad = reader.flag(field::amsgrad);
    optimizer.maximize = reader.flag(field::maximize);
    if (found->kind == OptimizerKind::Sgd)
        planMomentum(reader, optimizer);
    else
        planBetas(reader, optimizer);
}

void planSchedule(PlanReader& reader, RunPlan& plan)
{
    const auto& written = reader.setup()[field::scheduleClass];
    if (written.isSet()) {
        const std::string name(shortClassName(written.asString()));
        if (name == "WarmupCosine")
            planWarmupCosine(reader, plan);
        else if (name == "StepLR")
            planSteps(reader, plan);
        else
            reader.cannot(field::scheduleClass.path, written,
                          "It has mantissa.WarmupCosine and torch.optim.lr_scheduler.StepLR.");
    }
    if (const auto interval = reader.word(field::scheduleInterval); interval == "step")
        plan.schedule.interval = ScheduleInterval::Step;
    else if (interval == "epoch")
        plan.schedule.interval = ScheduleInterval::Epoch;
    else if (!interval.empty())
        reader.cannot(field::scheduleInterval.path, Value(interval),
                      "Schedules advance every step or every epoch.");
    const auto onSkip = reader.word(field::scheduleOnSkip);
    plan.schedule.holdOnSkip = onSkip == "hold";
    if (onSkip != "hold" && onSkip != "advance")
        reader.cannot(field::scheduleOnSkip.path, Value(onSkip),
                      "On a skipped step schedules advance or hold.");
}

} // namespace mantissa
