#include "engine/recipe/fields.h"
#include "engine/rules/making.h"
#include "engine/rules/reading.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace mantissa {
namespace {

constexpr std::string_view kScheduler = "GradientAccumulationScheduler";
constexpr std::string_view kSchedulerFile =
    "src/lightning/pytorch/callbacks/gradient_accumulation_scheduler.py, ";

bool hasScheduler(const RuleContext& context)
{
    return !listEntry(context.at(field::callbacks), kScheduler).isAbsent();
}

std::string schedulerPath()
{
    return std::string(field::callbacks.path) + "[" + std::string(kScheduler) + "]";
}

Fix withoutScheduler(std::string title, std::string text = {})
{
    return changingFix(std::move(title), {removeEntry(field::callbacks.path, kScheduler)}, std::move(text));
}

FindingSource inScheduler(std::string_view function)
{
    return inLightning(std::string(kSchedulerFile) + std::string(function));
}

bool isEpoch(const std::string& key)
{
    std::int64_t epoch = -1;
    const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), epoch);
    return error == std::errc() && end == key.data() + key.size() && epoch >= 0;
}

bool isFactor(const Value& value)
{
    return value.isBool() ? value.asBool() : value.isInteger() && value.asInteger() >= 1;
}

void scheduleEmpty(RuleContext& context)
{
    const Value& schedule = context.at(field::accumulationSchedule);
    if (!hasScheduler(context) || !schedule.isMap() || !schedule.asMap().empty())
        return;
    Finding finding = findingAt(Severity::WontStart, Stage::Configure, {field::accumulationSchedule.path});
    finding.message = "The accumulation schedule is empty.";
    finding.why = "Without an epoch there is nothing to schedule; the callback refuses it when it is made.";
    finding.source = inScheduler("__init__");
    finding.engine = "same";
    finding.raises = "TypeError: Empty dict cannot be interpreted correct";
    finding.fixes = {
        safeFix("Drop the callback", {removeEntry(field::callbacks.path, kScheduler)}),
        changingFix("Two micro batches from the start",
                    {setTo(field::accumulationSchedule.path, ValueMap{{"0", Value(2)}})}),
    };
    context.report(std::move(finding));
}

/// The schedule with the entries that are understood, numbered from 0.
ValueMap soundEntries(const ValueMap& schedule)
{
    ValueMap sound;
    for (const auto& [epoch, factor] : schedule) {
        if (isEpoch(epoch) && isFactor(factor))
            sound.emplace_back(epoch, factor);
    }
    return sound;
}

Fix keepSoundEntries(const ValueMap& schedule)
{
    ValueMap sound = soundEntries(schedule);
    if (sound.empty())
        return changingFix("Two micro batches from the start",
                           {setTo(field::accumulationSchedule.path, ValueMap{{"0", Value(2)}})});
    return changingFix("Keep only the entries that make sense",
                       {setTo(field::accumulationSchedule.path, std::move(sound))});
}

void scheduleEpoch(RuleContext& context)
{
    const auto& schedule = context.at(field::accumulationSchedule).asMap();
    const auto wrong = std::find_if(schedule.begin(), schedule.end(),
                                    [](const auto& entry) { return !isEpoch(entry.first); });
    if (!hasScheduler(context) || wrong == schedule.end())
        return;
    Finding finding = findingAt(Severity::WontStart, Stage::Configure, {field::accumulationSchedule.path});
    finding.message = "\"" + wrong->first + "\" is no epoch: the schedule's keys are whole numbers from 0.";
    finding.why = "Each key is the first epoch of a factor, counted from 0.";
    finding.source = inScheduler("__init__");
    finding.engine = "same";
    finding.raises = "MisconfigurationException: Epoch should be an int greater than or equal to 0.";
    finding.fixes = {keepSoundEntries(schedule), withoutScheduler("Drop the callback")};
    context.report(std::move(finding));
}

void scheduleFactor(RuleContext& context)
{
    const auto& schedule = context.at(field::accumulationSchedule).asMap();
    const auto wrong = std::find_if(schedule.begin(), schedule.end(),
                                    [](const auto& entry) { return !isFactor(entry.second); });
    if (!hasScheduler(context) || wrong == schedule.end())
        return;
    Finding finding = findingAt(Severity::WontStart, Stage::Configure, {field::accumulationSchedule.path});
    finding.message = "From epoch " + wrong->first + " on, " + wrong->second.text()
        + " micro batches are to make a step; it takes a whole number from 1.";
    finding.why = "A window has at least one micro batch.";
    finding.source = inScheduler("__init__");
    finding.engine = "same";
    finding.raises = "MisconfigurationException: Accumulation factor should be an int greater than 0.";
    finding.fixes = {keepSoundEntries(schedule), withoutScheduler("Drop the callback")};
    context.report(std::move(finding));
}

const char* countInTheStep()
{
    return "In the module:\n"
           "    self.automatic_optimization = False\n"
           "    def training_step(self, batch, batch_idx):\n"
           "        window = 8 if self.current_epoch >= 4 else 4\n"
           "        self.manual_backward(self.loss_of(batch) / window)\n"
           "        if (batch_idx + 1) % window == 0:\n"
           "            optimizer = self.optimizers()\n"
           "            optimizer.step()\n"
           "            optimizer.zero_grad()";
}

void schedulerManual(RuleContext& context)
{
    if (!hasScheduler(context) || !startsLoop(context) || isAutomatic(context))
        return;
    Finding finding =
        findingAt(Severity::WontStart, Stage::FitStart, {schedulerPath(), field::automaticOptimization.path});
    finding.message = "GradientAccumulationScheduler is used, and the module optimizes by hand.";
    finding.why =
        "The callback changes how often the automatic loop steps. In manual optimization training_step "
        "calls backward and step itself, so there is nothing for the callback to change. It is refused "
        "when training starts, after the sanity check, whatever its factors are.";
    finding.source = inScheduler("on_train_start");
    finding.engine = "same";
    finding.raises =
        "RuntimeError: Automatic gradient accumulation and the `GradientAccumulationScheduler` is not "
        "supported for manual optimization. Please remove the callback or switch to automatic "
        "optimization.";
    finding.fixes = {
        withoutScheduler("Drop the callback and count batches in training_step", countInTheStep())};
    addAutomatic(context, finding);
    finding.fixes.push_back(
        manualFix("Vary the window by epoch with a counter of your own", countInTheStep()));
    context.report(std::move(finding));
}

void schedulerDeepSpeed(RuleContext& context)
{
    if (!hasScheduler(context) || !startsLoop(context)
        || readStrategy(context).family != StrategyFamily::DeepSpeed)
        return;
    const auto& schedule = context.at(field::accumulationSchedule).asMap();
    const Value factor = schedule.empty() ? Value(1) : schedule.front().second;
    Finding finding =
        findingAt(Severity::WontStart, Stage::FitStart, {schedulerPath(), field::strategy.path});
    finding.message = "DeepSpeed cannot change the accumulation from epoch to epoch, as the schedule "
        + context.at(field::accumulationSchedule).text() + " wants.";
    finding.why =
        "DeepSpeed accumulates inside its engine, with a number that is fixed when the engine is made.";
    finding.source = inScheduler("on_train_start");
    finding.engine = "cannot";
    finding.raises =
        "RuntimeError: The `DeepSpeedStrategy` does not support `accumulate_grad_batches` changing "
        "between epochs.";
    finding.fixes = {
        changingFix("A fixed number of micro batches: " + factor.text(),
                    {removeEntry(field::callbacks.path, kScheduler), setTo(field::accumulate.path, factor)}),
        changingFix("Shard with FSDP and keep the schedule", {setTo(field::strategy.path, "fsdp")}),
        changingFix("Replicate with DDP and keep the schedule", {setTo(field::strategy.path, "ddp")},
                    "Every rank then holds the whole model and the whole optimizer state."),
    };
    context.report(std::move(finding));
}

/// Whether flag and schedule ask for the same: then dropping either changes nothing.
bool agree(const ValueMap& schedule, const Value& flag)
{
    return schedule.size() == 1 && schedule.front().first == "0" && schedule.front().second == flag;
}

void schedulerAndFlag(RuleContext& context)
{
    const Value& flag = context.at(field::accumulate);
    if (!hasScheduler(context) || flag.isAbsent() || flag == Value(1) || !startsLoop(context))
        return;
    const auto& schedule = context.at(field::accumulationSchedule).asMap();
    Finding finding =
        findingAt(Severity::WontStart, Stage::FitStart, {field::accumulate.path, schedulerPath()});
    finding.message = "accumulate_grad_batches=" + flag.text() + " and a schedule "
        + context.at(field::accumulationSchedule).text() + " both set the window.";
    finding.why =
        "The callback writes its factor into the same setting at each epoch. With two sources the target "
        "refuses to choose.";
    finding.source = inScheduler("on_train_start");
    finding.engine = "same";
    finding.raises =
        "ValueError: You have set `accumulate_grad_batches` and are using the "
        "`GradientAccumulationScheduler` callback. Either remove `accumulate_grad_batches` from the "
        "Trainer or remove the callback.";
    Fix keepSchedule = changingFix("Keep the schedule", {unset(field::accumulate.path)});
    Fix keepFlag = withoutScheduler("Keep accumulate_grad_batches=" + flag.text());
    if (agree(schedule, flag))
        keepSchedule.grade = keepFlag.grade = FixGrade::Safe;
    finding.fixes = {std::move(keepSchedule), std::move(keepFlag)};
    context.report(std::move(finding));
}

void schedulerOverridden(RuleContext& context)
{
    const auto& schedule = context.at(field::accumulationSchedule).asMap();
    const bool accumulates = std::any_of(schedule.begin(), schedule.end(),
                                         [](const auto& entry) { return entry.second.asInteger(1) > 1; });
    const bool step = overrides(context, "optimizer_step");
    const bool zero = overrides(context, "optimizer_zero_grad");
    if (!hasScheduler(context) || !accumulates || (!step && !zero) || !startsLoop(context))
        return;
    const std::string hooks = step && zero ? "optimizer_step and optimizer_zero_grad"
                                           : (step ? "optimizer_step" : "optimizer_zero_grad");
    Finding finding =
        findingAt(Severity::Differs, Stage::Optimizer, {field::overrides.path, schedulerPath()});
    finding.message = "The module's own " + hooks + " will run once a window of the schedule "
        + context.at(field::accumulationSchedule).text() + ", not once a batch.";
    finding.why =
        "Under accumulation the loop reaches these hooks only where a window ends. The target warns and "
        "goes on.";
    finding.source = inScheduler("on_train_start");
    finding.engine = "cannot";
    finding.raises =
        "UserWarning: ... overriding `LightningModule.optimizer_{step,zero_grad}`, the hooks will not be "
        "called on every batch ...";
    finding.fixes = {
        withoutScheduler("Drop the callback: the hook runs for every batch"),
        manualFix("Leave the hook out of the module",
                  "Remove " + hooks
                      + " from the module, or write it so that it "
                        "expects one call a window."),
    };
    context.report(std::move(finding));
}

void manualAccumulation(RuleContext& context)
{
    const Value& flag = context.at(field::accumulate);
    if (context.onFabric() || !flag.isSet() || flag == Value(1) || !fits(context) || isAutomatic(context))
        return;
    Finding finding = findingAt(Severity::WontStart, Stage::Setup,
                                {field::accumulate.path, field::automaticOptimization.path});
    finding.message = "accumulate_grad_batches=" + flag.text() + " is set, and the module optimizes by hand.";
    finding.why =
        "The flag tells the automatic loop how often to step; in manual optimization training_step decides.";
    finding.source = inLightning("src/lightning/pytorch/trainer/configuration_validator.py, "
                                 "__verify_manual_optimization_support");
    finding.engine = "same";
    finding.raises = "MisconfigurationException: Automatic gradient accumulation is not supported for manual "
                     "optimization. Remove `Trainer(accumulate_grad_batches="
        + flag.text() + ")` or switch to automatic optimization.";
    finding.fixes = {
        changingFix("Drop the flag and count batches in training_step", {unset(field::accumulate.path)},
                    countInTheStep()),
    };
    addAutomatic(context, finding);
    context.report(std::move(finding));
}

constexpr std::array kRules = {
    Rule{"accumulation-schedule-empty", kOfLightning, {"2.0"}, scheduleEmpty},
    Rule{"accumulation-schedule-epoch", kOfLightning, {"2.0"}, scheduleEpoch},
    Rule{"accumulation-schedule-factor", kOfLightning, {"2.0"}, scheduleFactor},
    Rule{"accumulation-schedule-manual", kOfTrainer, {"2.0"}, schedulerManual},
    Rule{"accumulation-schedule-deepspeed", kOfTrainer, {"2.0"}, schedulerDeepSpeed},
    Rule{"accumulation-schedule-and-flag", kOfTrainer, {"2.0"}, schedulerAndFlag},
    Rule{"accumulation-schedule-overridden", kOfTrainer, {"2.0"}, schedulerOverridden},
    Rule{"accumulation-manual", kOfTrainer, {"2.0"}, manualAccumulation},
};

} // namespace

std::span<const Rule> accumulationRules()
{
    return kRules;
}

} // namespace mantissa
