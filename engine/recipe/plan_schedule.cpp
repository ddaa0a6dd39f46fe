#include "engine/recipe/fields.h"
#include "engine/recipe/plan_parts.h"
#include "engine/recipe/training_classes.h"

#include <algorithm>
#include <array>
#include <utility>

namespace mantissa {

namespace {

void planWarmupCosine(PlanReader& reader, RunPlan& plan)
{
    auto& schedule = plan.schedule;
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
    plan.schedule.stepSize = reader.integer(field::scheduleStepSize, 0);
    plan.schedule.gamma = reader.number(field::scheduleGamma);
    if (plan.schedule.stepSize < 1)
        reader.fail("StepLR does not know its step_size.", "Set lr_scheduler.init_args.step_size.");
}

void planMilestones(PlanReader& reader, RunPlan& plan)
{
    const auto& written = reader.setup()[field::scheduleMilestones];
    for (const auto& milestone : written.asList()) {
        if (!milestone.isInteger() || milestone.asInteger() < 0)
            reader.fail("lr_scheduler.init_args.milestones has " + milestone.text() + ".",
                        "Milestones are whole numbers of advances, such as [30, 80].");
        plan.schedule.milestones.push_back(milestone.asInteger());
    }
    if (plan.schedule.milestones.empty())
        reader.fail("MultiStepLR does not know its milestones.",
                    "Set lr_scheduler.init_args.milestones to a list such as [30, 80].");
    std::sort(plan.schedule.milestones.begin(), plan.schedule.milestones.end());
    plan.schedule.gamma = reader.number(field::scheduleGamma);
}

void planCosine(PlanReader& reader, RunPlan& plan)
{
    plan.schedule.total = reader.integer(field::scheduleTMax, 0);
    plan.schedule.leastRate = reader.number(field::scheduleEtaMin);
    if (plan.schedule.total < 1)
        reader.fail("CosineAnnealingLR does not know its T_max.", "Set lr_scheduler.init_args.T_max.");
}

void planLinear(PlanReader& reader, RunPlan& plan)
{
    auto& schedule = plan.schedule;
    schedule.startFactor = reader.number(field::scheduleStartFactor);
    schedule.endFactor = reader.number(field::scheduleEndFactor);
    schedule.total = reader.integer(field::scheduleTotalIters);
    if (!(schedule.startFactor > 0.0))
        reader.fail("lr_scheduler.init_args.start_factor is " + Value(schedule.startFactor).text() + ".",
                    "It is above 0: a rate of 0 could not be multiplied up again.");
}

void planExponential(PlanReader& reader, RunPlan& plan)
{
    plan.schedule.gamma = reader.number(field::scheduleGamma);
    if (!reader.setup()[field::scheduleGamma].isSet())
        reader.fail("ExponentialLR does not know its gamma.", "Set lr_scheduler.init_args.gamma.");
}

std::int64_t cycleLength(PlanReader& reader)
{
    if (reader.setup()[field::cycleTotalSteps].isSet())
        return reader.integer(field::cycleTotalSteps);
    return reader.integer(field::cycleEpochs, 0) * reader.integer(field::cycleStepsPerEpoch, 0);
}

/// A share that leaves each phase of the cycle at least one advance to go along.
bool phasesHaveLength(const OneCyclePlan& cycle)
{
    double begin = 0.0;
    for (const double end : cycle.phaseEnds())
        if (!(end > std::exchange(begin, end)))
            return false;
    return true;
}

/// Momentum of SGD and RMSprop, or the first beta: what the cycle takes over.
void checkCycledMomentum(PlanReader& reader, RunPlan& plan)
{
    auto& optimizer = plan.optimizer;
    if (!plan.schedule.movesMomentum())
        return;
    if (optimizer.kind == OptimizerKind::Adagrad || optimizer.kind == OptimizerKind::Lbfgs)
        reader.fail("OneCycleLR cycles the momentum, and this optimizer has neither momentum nor betas.",
                    "Set lr_scheduler.init_args.cycle_momentum to false.");
    if (optimizer.hasMomentum())
        optimizer.momentum = plan.schedule.oneCycle.maxMomentum;
}

void planOneCycle(PlanReader& reader, RunPlan& plan)
{
    auto& cycle = plan.schedule.oneCycle;
    cycle.maxRate = reader.number(field::cycleMaxLr);
    cycle.totalSteps = cycleLength(reader);
    cycle.upShare = reader.number(field::cyclePctStart);
    const auto anneal = reader.word(field::cycleAnneal);
    cycle.linear = anneal == "linear";
    cycle.cycleMomentum = reader.flag(field::cycleMomentum);
    cycle.baseMomentum = reader.number(field::cycleBaseMomentum);
    cycle.maxMomentum = reader.number(field::cycleMaxMomentum);
    cycle.divFactor = reader.number(field::cycleDivFactor);
    cycle.finalDivFactor = reader.number(field::cycleFinalDivFactor);
    cycle.threePhase = reader.flag(field::cycleThreePhase);
    if (!reader.setup()[field::cycleMaxLr].isSet())
        reader.fail("OneCycleLR does not know its max_lr.", "Set lr_scheduler.init_args.max_lr.");
    if (cycle.totalSteps < 1)
        reader.fail("OneCycleLR does not know how long the cycle is.",
                    "Set lr_scheduler.init_args.total_steps, or both epochs and steps_per_epoch.");
    else if (!phasesHaveLength(cycle))
        reader.fail("A cycle of " + std::to_string(cycle.totalSteps) + " steps with pct_start "
                        + Value(cycle.upShare).text() + " leaves one of its phases without a step.",
                    "Lengthen the cycle, or move lr_scheduler.init_args.pct_start.");
    if (anneal != "cos" && anneal != "linear")
        reader.cannot(field::cycleAnneal.path, Value(anneal), "A cycle anneals with cos or linear.");
    for (const auto* field : {&field::cycleDivFactor, &field::cycleFinalDivFactor})
        if (!(reader.number(*field) > 0.0))
            reader.fail(std::string(field->path) + " is 0, and something is divided by it.",
                        "It is above 0.");
    checkCycledMomentum(reader, plan);
}

constexpr std::array<std::string_view, 3> kWatched = {"loss", "val_loss", "val_accuracy"};

std::string monitored(PlanReader& reader, const RunPlan& plan)
{
    const bool inClass = !reader.word(field::plateauMonitor).empty();
    const Field& field = inClass ? field::plateauMonitor : field::scheduleMonitor;
    if (!inClass && reader.word(field).empty())
        reader.fail("ReduceLROnPlateau does not know which metric it watches.",
                    "Set mantissa.facts.lr_scheduler.monitor to train_loss.");
    auto series = monitoredSeries(reader, plan, field);
    if (!series.empty() && std::find(kWatched.begin(), kWatched.end(), series) == kWatched.end())
        reader.fail("ReduceLROnPlateau watches " + series + ", which this engine does not lower the rate by.",
                    "Watch train_loss, val_loss or val_accuracy.");
    return series;
}

void planPlateau(PlanReader& reader, RunPlan& plan)
{
    auto& plateau = plan.schedule.plateau;
    plateau.monitor = monitored(reader, plan);
    const auto mode = reader.word(field::plateauMode);
    plateau.wantsLarge = mode == "max";
    plateau.factor = reader.number(field::plateauFactor);
    plateau.patience = reader.integer(field::plateauPatience);
    plateau.threshold = reader.number(field::plateauThreshold);
    const auto threshold = reader.word(field::plateauThresholdMode);
    plateau.absolute = threshold == "abs";
    plateau.cooldown = reader.integer(field::plateauCooldown);
    plateau.leastRate = reader.number(field::plateauMinLr);
    plateau.eps = reader.number(field::plateauEps);
    if (mode != "min" && mode != "max")
        reader.cannot(field::plateauMode.path, Value(mode), "A plateau is watched with min or max.");
    if (threshold != "rel" && threshold != "abs")
        reader.cannot(field::plateauThresholdMode.path, Value(threshold), "A threshold is rel or abs.");
    if (!(plateau.factor < 1.0))
        reader.fail("lr_scheduler.init_args.factor is " + Value(plateau.factor).text() + ".",
                    "It is below 1: a plateau makes the rate smaller.");
}

struct SchedulePlanner {
    ScheduleKind kind;
    void (*plan)(PlanReader&, RunPlan&);
};
constexpr std::array kPlanners = {
    SchedulePlanner{ScheduleKind::WarmupCosine, planWarmupCosine},
    SchedulePlanner{ScheduleKind::Step, planSteps},
    SchedulePlanner{ScheduleKind::MultiStep, planMilestones},
    SchedulePlanner{ScheduleKind::Cosine, planCosine},
    SchedulePlanner{ScheduleKind::Linear, planLinear},
    SchedulePlanner{ScheduleKind::Exponential, planExponential},
    SchedulePlanner{ScheduleKind::OneCycle, planOneCycle},
    SchedulePlanner{ScheduleKind::Plateau, planPlateau},
};

void planClass(PlanReader& reader, RunPlan& plan)
{
    const auto& written = reader.setup()[field::scheduleClass];
    const auto* found = scheduleClass(written.asString());
    if (!found) {
        std::string names;
        for (const auto& entry : scheduleClasses())
            if (!entry.package.starts_with("pytorch_lightning"))
                names += (names.empty() ? "" : ", ") + std::string(entry.package) + std::string(entry.name);
        reader.cannot(field::scheduleClass.path, written, "It has " + names + ".");
        return;
    }
    plan.schedule.kind = found->kind;
    plan.schedule.interval = ScheduleInterval::Epoch; // Lightning's word where nothing is said.
    refuseUnknownArguments(reader, "lr_scheduler");
    for (const auto& planner : kPlanners)
        if (planner.kind == found->kind)
            planner.plan(reader, plan);
}

} // namespace

void planSchedule(PlanReader& reader, RunPlan& plan)
{
    if (reader.setup()[field::scheduleClass].isSet())
        planClass(reader, plan);
    if (const auto interval = reader.word(field::scheduleInterval); interval == "step")
        plan.schedule.interval = ScheduleInterval::Step;
    else if (interval == "epoch")
        plan.schedule.interval = ScheduleInterval::Epoch;
    else if (!interval.empty())
        reader.cannot(field::scheduleInterval.path, Value(interval),
                      "Schedules advance every step or every epoch.");
    plan.schedule.frequency = reader.integer(field::scheduleFrequency);
    const auto onSkip = reader.word(field::scheduleOnSkip);
    plan.schedule.holdOnSkip = onSkip == "hold";
    if (onSkip != "hold" && onSkip != "advance")
        reader.cannot(field::scheduleOnSkip.path, Value(onSkip),
                      "On a skipped step schedules advance or hold.");
}

} // namespace mantissa
