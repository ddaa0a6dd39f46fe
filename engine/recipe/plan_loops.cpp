#include "engine/core/counted.h"
#include "engine/recipe/asked.h"
#include "engine/recipe/fields.h"
#include "engine/recipe/plan_parts.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace mantissa {

namespace {

void planLength(PlanReader& reader, RunPlan& plan)
{
    const auto& setup = reader.setup();
    plan.maxSteps = reader.integer(field::maxSteps);
    const bool limited = plan.maxSteps >= 0;
    const auto epochs = setup[field::maxEpochs].isSet() ? reader.integer(field::maxEpochs)
        : limited                                       ? -1
                                                        : 1000;
    plan.maxEpochs = epochs < 0 ? plan.maxSteps : epochs; // An epoch has a step at least.
    if (epochs < 0 && !limited)
        reader.fail("Nothing ends this run: neither epochs nor steps are limited.",
                    "Set trainer.max_epochs or trainer.max_steps.");
    if (epochs == 0 || plan.maxSteps == 0)
        reader.fail("This run trains nothing: its limit is 0.",
                    "Raise trainer.max_epochs or trainer.max_steps.");
}

void planLimits(PlanReader& reader, RunPlan& plan)
{
    planLimit(reader, plan);
    const auto overfit = reader.setup().effective(field::overfitBatches);
    if (overfit.asDouble() != 0.0)
        reader.cannot(field::overfitBatches.path, overfit,
                      "Use limit_train_batches to train on few batches.");
}

void planTrial(PlanReader& reader, RunPlan& plan)
{
    const auto trial = reader.setup().effective(field::fastDevRun);
    const auto batches = trial.isBool() ? std::int64_t{trial.asBool()} : trial.asInteger();
    if (!trial.isBool() && (!trial.isInteger() || batches < 0))
        reader.cannot(field::fastDevRun.path, trial, "It takes true, false, or a number of batches.");
    if (batches <= 0)
        return;
    plan.maxSteps = batches;
    plan.maxEpochs = 1;
    plan.limitBatches = batches;
    plan.trial = true;
    plan.checkpoints.atEnd = false;
}

void planAccumulation(PlanReader& reader, RunPlan& plan)
{
    const auto& schedule = reader.setup()[field::accumulationSchedule];
    const auto flag = reader.integer(field::accumulate, 1);
    for (const auto& [from, count] : schedule.asMap()) {
        std::int64_t epoch = -1;
        const auto parsed = std::from_chars(from.data(), from.data() + from.size(), epoch);
        const bool whole = parsed.ec == std::errc{} && parsed.ptr == from.data() + from.size() && epoch >= 0;
        if (!whole || !count.isInteger() || count.asInteger() < 1)
            reader.fail("The accumulation schedule has “" + from + ": " + count.text() + "”.",
                        "It maps epochs from 0 to numbers of micro batches from 1, such as {0: 1, 4: 2}.");
    }
    if (schedule.isMap() && flag != 1)
        reader.fail("Accumulation is set twice: accumulate_grad_batches is " + std::to_string(flag)
                        + ", and there is a schedule.",
                    "Remove one of the two.");
    plan.accumulate = accumulationAsked(reader.setup());
    if (const auto* gan = std::get_if<GanPlan>(&plan.model))
        plan.accumulate = {{0, gan->discriminatorSteps}};
    const auto last = reader.word(field::lastWindow);
    plan.divideLastWindowBySize = last == "real";
    if (last != "real" && last != "full")
        reader.cannot(field::lastWindow.path, Value(last), "A last window counts as full or real.");
}

void planClip(PlanReader& reader, RunPlan& plan)
{
    const auto algorithm = reader.word(field::clipAlgorithm);
    if (algorithm != "norm" && algorithm != "value")
        reader.cannot(field::clipAlgorithm.path, Value(algorithm), "It clips by norm or by value.");
    for (const auto* field : {&field::clipValue, &field::fabricMaxNorm, &field::fabricClipValue})
        (void)reader.number(*field);
    const auto norm = reader.number(field::normType);
    if (!(norm > 0.0))
        reader.fail("mantissa.fabric.norm_type is " + Value(norm).text() + ".",
                    "It is above 0, usually 2, or .inf.");
    const auto clip = clipAsked(reader.setup());
    plan.clip = {clip.kind, clip.value, clip.normType};
}

struct FaultName {
    std::string_view name;
    FaultKind kind;
};
constexpr std::array kFaults = {
    FaultName{"inf", FaultKind::Inf},       FaultName{"nan", FaultKind::NaN},
    FaultName{"factor", FaultKind::Factor}, FaultName{"stall", FaultKind::Stall},
    FaultName{"throw", FaultKind::Throw},   FaultName{"spike", FaultKind::Spike},
};

constexpr double kLongestStall = 86400.0;

/// What a fault says about itself that this engine cannot read; empty where it reads all of it.
std::string oddEntry(const Value& fault)
{
    constexpr std::array<std::string_view, 3> kWhole = {"step", "rank", "batch"};
    for (const auto& [key, value] : fault.asMap()) {
        const bool whole = std::find(kWhole.begin(), kWhole.end(), key) != kWhole.end();
        const bool known = whole || key == "kind" || key == "value" || key == "after_backward";
        const bool fits = whole ? value.isInteger() || value.isNull()
            : key == "kind"     ? value.isString()
            : key == "value"    ? value.isNumber() || value.isNull()
                                : value.isBool();
        if (!known || !fits)
            return key + ": " + value.text();
    }
    return {};
}

void planFault(PlanReader& reader, const Value& written, RunPlan& plan)
{
    if (const auto odd = oddEntry(written); !odd.empty())
        reader.fail("A fault of mantissa.inject has " + odd + ".",
                    "A fault has step, rank and batch (whole numbers), kind (a word), value (a number) and "
                    "after_backward (true or false).");
    FaultPlan fault;
    const auto kind = written["kind"].asString("inf");
    const auto* found =
        std::find_if(kFaults.begin(), kFaults.end(), [&](const auto& f) { return f.name == kind; });
    if (!written.isMap() || found == kFaults.end()) {
        reader.fail(
            "mantissa.inject has " + written.text() + ".",
            "A fault is {step, rank, kind, value}; its kind is inf, nan, factor, stall, throw or spike.");
        return;
    }
    fault.kind = found->kind;
    fault.step = written["step"].asInteger();
    const auto rank = written["rank"].asInteger(-1);
    fault.rank = static_cast<int>(rank);
    fault.value = written["value"].asDouble();
    fault.batch = written["batch"].asInteger(-1);
    fault.afterBackward = written["after_backward"].asBool();
    const bool needsValue =
        fault.kind == FaultKind::Factor || fault.kind == FaultKind::Stall || fault.kind == FaultKind::Spike;
    if (needsValue && !written["value"].isNumber())
        reader.fail("A fault of the kind " + kind + " has no value.",
                    "Give the factor, or the seconds of a stall, as value.");
    if (fault.kind == FaultKind::Stall && !(fault.value >= 0.0 && fault.value <= kLongestStall))
        reader.fail("A stall lasts " + written["value"].text() + " seconds.",
                    "Give a number of seconds from 0 to a day's 86400.");
    if (fault.step < 0 || rank >= plan.ranks || rank < -1)
        reader.fail("A fault is at step " + std::to_string(fault.step) + " on rank " + std::to_string(rank)
                        + ", which this run does not have.",
                    "Steps and ranks count from 0; this run has " + counted(plan.ranks, "rank") + ".");
    plan.faults.push_back(fault);
}

} // namespace

void planLoops(PlanReader& reader, RunPlan& plan)
{
    planLength(reader, plan);
    planLimits(reader, plan);
    planTrial(reader, plan);
    planAccumulation(reader, plan);
    planClip(reader, plan);
}

void planFaults(PlanReader& reader, RunPlan& plan)
{
    const auto faults = reader.setup().effective(field::inject);
    if (!faults.isList()) {
        reader.fail("mantissa.inject is " + faults.text() + ", and should be a list.",
                    "Write a list of {step, rank, kind, value}.");
        return;
    }
    for (const auto& fault : faults.asList())
        planFault(reader, fault, plan);
}

} // namespace mantissa
