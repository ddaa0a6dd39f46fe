#include "engine/recipe/fields.h"
#include "engine/rules/callback_reading.h"
#include "engine/rules/making.h"
#include "engine/rules/metric_reading.h"
#include "engine/rules/reading.h"

#include <array>

namespace mantissa {
namespace {

constexpr std::string_view kSwa = "StochasticWeightAveraging";
constexpr std::string_view kCheckpoint = "ModelCheckpoint";

std::string callbackPath(std::string_view name)
{
    return std::string(field::callbacks.path) + "[" + std::string(name) + "]";
}

void onlyOnException(RuleContext& context)
{
    constexpr std::string_view kName = "OnExceptionCheckpoint";
    if (!hasCallback(context, kName) || hasCallback(context, kCheckpoint) || !startsLoop(context)
        || isTrialRun(context) || overrides(context, "configure_callbacks"))
        return;
    Finding finding = findingAt(Severity::Differs, Stage::Record, {callbackPath(kName)});
    finding.message =
        "Only a run that fails leaves a checkpoint: OnExceptionCheckpoint takes the place of the one that "
        "saves after each epoch.";
    finding.why = "A ModelCheckpoint is added where there is no checkpoint callback of any kind. This one "
                  "counts as one, "
                  "and its file is removed when the run ends well.";
    finding.source = inLightning("src/lightning/pytorch/trainer/connectors/callback_connector.py, "
                                 "_configure_checkpoint_callbacks");
    finding.engine = "cannot";
    finding.fixes = {
        changingFix("Save after each epoch as well",
                    {{EditOp::Append, std::string(field::callbacks.path),
                      ValueMap{{"class_path", Value("lightning.pytorch.callbacks.ModelCheckpoint")}}}})};
    context.report(std::move(finding));
}

void timeGivenTwice(RuleContext& context)
{
    const auto timers = callbacksNamed(context, "Timer");
    const Value& limit = context.at(field::maxTime);
    if (timers.empty() || !limit.isSet() || !fits(context) || timers.front()["duration"] == limit)
        return;
    Finding finding =
        findingAt(Severity::Differs, Stage::Configure, {field::maxTime.path, timers.front().path()});
    finding.message = "max_time=" + limit.text()
        + " has no effect: there is a Timer among the callbacks, with "
        + (timers.front()["duration"].isSet() ? timers.front()["duration"].text() : std::string("no limit"))
        + ".";
    finding.why = "max_time stands for a Timer, and is dropped without a word where one is there already.";
    finding.source = inLightning("src/lightning/pytorch/trainer/connectors/callback_connector.py, "
                                 "_configure_timer_callback");
    finding.engine = "same";
    finding.fixes = {safeFix("Leave max_time out", {unset(field::maxTime.path)}),
                     changingFix("Leave the Timer out", {removeEntry(field::callbacks.path, "Timer")})};
    context.report(std::move(finding));
}

bool isZero(const Value& value)
{
    return value.isInteger() && value.asInteger() == 0;
}

void checkpointNever(RuleContext& context)
{
    for (const auto& checkpoint : callbacksNamed(context, kCheckpoint)) {
        const Value& steps = checkpoint["every_n_train_steps"];
        const Value& epochs = checkpoint["every_n_epochs"];
        const bool by =
            steps.asInteger() > 0 || epochs.asInteger() > 0 || checkpoint["train_time_interval"].isSet();
        if (by || (!isZero(epochs) && !(isZero(steps) && !epochs.isSet())) || !startsLoop(context))
            continue;
        Finding finding =
            findingAt(Severity::Differs, Stage::Record,
                      {checkpoint.path(isZero(epochs) ? "every_n_epochs" : "every_n_train_steps")});
        finding.message = "ModelCheckpoint never saves: the only moment that it is given is every 0.";
        finding.why = "0 switches a moment off, and where one is given there is no other by default.";
        finding.source = inCallback("model_checkpoint", "__init_triggers");
        finding.engine = "same";
        finding.fixes = {changingFix("Save after each epoch",
                                     {unset(checkpoint.path("every_n_epochs")),
                                      unset(checkpoint.path("every_n_train_steps"))}),
                         checkpoint.without("Leave the callback out")};
        context.report(std::move(finding));
    }
}

void checkpointManual(RuleContext& context)
{
    for (const auto& checkpoint : callbacksNamed(context, kCheckpoint)) {
        const bool bySteps = checkpoint["every_n_train_steps"].asInteger() > 0;
        if ((!bySteps && !checkpoint["train_time_interval"].isSet()) || checkpoint["save_top_k"] == Value(0)
            || !startsLoop(context) || isTrialRun(context) || isAutomatic(context))
            continue;
        const std::string moment = bySteps ? "every_n_train_steps" : "train_time_interval";
        Finding finding = findingAt(Severity::Differs, Stage::Record,
                                    {checkpoint.path(moment), field::automaticOptimization.path});
        finding.message = bySteps ? "Checkpoints by step are saved after the optimizer's step in manual "
                                    "optimization, with metrics from before."
                                  : "In manual optimization no checkpoint is saved by time.";
        finding.why = bySteps
            ? "The weights that a metric belongs to are gone by then, unless the module keeps them. A "
              "warning says so."
            : "In manual optimization the branch that looks at the clock is left out, without a word.";
        finding.source = inCallback("model_checkpoint", "on_train_batch_end");
        finding.engine = "cannot";
        if (bySteps)
            finding.raises =
                "UserWarning: Using ModelCheckpoint with manual optimization and every_n_train_steps, but "
                "no pre-optimization state was saved.";
        finding.fixes = {checkpoint.byDefault(moment, "Save after each epoch")};
        context.report(std::move(finding));
    }
}

void optimizerNone(RuleContext& context)
{
    if (!isZero(context.at(field::numOptimizers)) || !startsLoop(context))
        return;
    Finding finding = findingAt(Severity::Differs, Stage::Optimizer, {field::numOptimizers.path});
    finding.message = "configure_optimizers returns none: the run computes losses and learns nothing.";
    finding.why =
        "A stand-in that updates nothing takes the optimizer's place. A warning says so at the start.";
    finding.source =
        inLightning("src/lightning/pytorch/core/optimizer.py, _init_optimizers_and_lr_schedulers");
    finding.engine = "cannot";
    finding.raises =
        "UserWarning: `LightningModule.configure_optimizers` returned `None`, this fit will run with no "
        "optimizer";
    finding.fixes = {changingFix("Return an optimizer", {unset(field::numOptimizers.path)},
                                 "return torch.optim.AdamW(self.parameters(), lr=self.lr)")};
    context.report(std::move(finding));
}

void stopLenient(RuleContext& context)
{
    for (const auto& stop : callbacksNamed(context, "EarlyStopping")) {
        const std::string metric = stop["monitor"].asString();
        if (metric.empty() || stop["strict"].asBool(true) || !startsLoop(context) || isTrialRun(context))
            continue;
        const std::string why = whyMissing(context, metric, LooksFor::EachEpoch);
        if (why.empty() || why.ends_with("out"))
            continue;
        Finding finding =
            findingAt(Severity::Differs, Stage::Record, {stop.path("monitor"), stop.path("strict")});
        finding.message = "EarlyStopping never stops: it watches " + metric + ", and " + why + ".";
        finding.why = "With strict=False a missing metric is passed over, by default without a word.";
        finding.source = inCallback("early_stopping", "_validate_condition_metric");
        finding.engine = "same";
        for (const std::string& other : metricsAtHand(context, metric))
            finding.fixes.push_back(stop.with("monitor", other, "Watch " + other));
        finding.fixes.push_back(stop.without("Leave the callback out"));
        finding.fixes.back().grade = FixGrade::Safe;
        context.report(std::move(finding));
    }
}

void swaStepSchedule(RuleContext& context)
{
    const bool byStep = context.at(field::scheduleInterval).asString() == "step";
    const Value& every = context.at(field::scheduleFrequency);
    if (!hasCallback(context, kSwa) || !takesSteps(context) || isTrialRun(context)
        || (!byStep && every.asInteger(1) < 2) || isZero(context.at(field::numSchedules))
        || !isAutomatic(context))
        return;
    Finding finding = findingAt(
        Severity::Differs, Stage::Optimizer,
        {byStep ? field::scheduleInterval.path : field::scheduleFrequency.path, callbackPath(kSwa)});
    finding.message = "Once the averaging starts, the rate changes once an epoch, no longer "
        + (byStep ? std::string("at each step.") : "every " + every.text() + " epochs.");
    finding.why = "StochasticWeightAveraging puts its own schedule in the place of the one there is, for "
                  "good. A warning "
                  "says so.";
    finding.source = inCallback("stochastic_weight_avg", "on_train_epoch_start");
    finding.engine = "same";
    finding.raises = "UserWarning: SWA is currently only supported every epoch.";
    finding.fixes = {changingFix("Change the rate by epoch from the start",
                                 {unset(field::scheduleInterval.path), unset(field::scheduleFrequency.path)}),
                     withoutCallback(kSwa, "Leave the averaging out")};
    context.report(std::move(finding));
}

void averageBuffers(RuleContext& context)
{
    for (const std::string_view name : {"WeightAveraging", "EMAWeightAveraging"}) {
        for (const auto& average : callbacksNamed(context, name)) {
            const Value& buffers = average["use_buffers"];
            if (!buffers.isBool() || buffers.asBool() || !takesSteps(context)
                || !context.at(field::hasBatchnorm).asBool())
                continue;
            Finding finding = findingAt(Severity::Differs, Stage::Optimizer, {average.path("use_buffers")});
            finding.message = "The average of " + std::string(name)
                + " keeps the batch statistics from before training: use_buffers is false.";
            finding.why = "The running mean and variance of batch normalisation are buffers. Averaged "
                          "weights with other "
                          "statistics give other outputs than in training.";
            finding.source = inCallback("weight_averaging", "__init__");
            finding.engine = "same";
            finding.fixes = {average.with("use_buffers", true, "Average the buffers too")};
            context.report(std::move(finding));
        }
    }
}

void plateauStale(RuleContext& context)
{
    const std::string metric = context.at(field::scheduleMonitor).asString();
    const Value& validation = otherFact(context, "logs_val");
    bool inValidation = !validation.isList() && metric.starts_with("val");
    for (const Value& name : validation.asList())
        inValidation = inValidation || name.asString() == metric;
    if (classOf(context.at("lr_scheduler")) != "ReduceLROnPlateau" || !inValidation || !takesSteps(context)
        || context.at(field::scheduleInterval).asString() != "step" || !isAutomatic(context))
        return;
    Finding finding = findingAt(Severity::Differs, Stage::Optimizer, {field::scheduleInterval.path});
    finding.message =
        "ReduceLROnPlateau is shown " + metric + " at each step, and it changes with each validation only.";
    finding.why =
        "Between two validations the last value is shown again and again, which looks like a plateau: the "
        "patience is used up within as many steps.";
    finding.source =
        inLightning("src/lightning/pytorch/loops/training_epoch_loop.py, _update_learning_rates");
    finding.engine = "same";
    finding.fixes = {changingFix("Look at each epoch", {setTo(field::scheduleInterval.path, "epoch")})};
    context.report(std::move(finding));
}

void writerKeepsAll(RuleContext& context)
{
    for (const auto& writer : callbacksNamed(context, "BasePredictionWriter")) {
        const std::string interval = writer["write_interval"].asString("batch");
        if (context.at(field::runFn).asString() != "predict"
            || (interval != "epoch" && interval != "batch_and_epoch"))
            continue;
        Finding finding = findingAt(Severity::Wasteful, Stage::Record, {writer.path("write_interval")});
        finding.message =
            "All predictions are kept in memory until the end: write_interval is " + interval + ".";
        finding.why = "The hook at the end is handed all of them, whatever return_predictions says.";
        finding.source = inLightning("src/lightning/pytorch/loops/prediction_loop.py, _predict_step");
        finding.engine = "cannot";
        finding.fixes = {writer.with("write_interval", "batch", "Write after each batch")};
        context.report(std::move(finding));
    }
}

constexpr std::array kRules = {
    Rule{"checkpoint-only-on-exception", kOfTrainer, {"2.6"}, onlyOnException},
    Rule{"checkpoint-never", kOfTrainer, {"2.0"}, checkpointNever},
    Rule{"checkpoint-manual", kOfTrainer, {"2.6"}, checkpointManual},
    Rule{"timer-and-max-time", kOfTrainer, {"2.0"}, timeGivenTwice},
    Rule{"optimizers-none", kOfTrainer, {"2.0"}, optimizerNone},
    Rule{"early-stopping-lenient", kOfTrainer, {"2.0"}, stopLenient},
    Rule{"swa-step-schedule", kOfTrainer, {"2.0"}, swaStepSchedule},
    Rule{"average-buffers", kOfTrainer, {"2.6"}, averageBuffers},
    Rule{"plateau-stale", kOfTrainer, {"2.0"}, plateauStale},
    Rule{"prediction-writer-keeps-all", kOfTrainer, {"2.0"}, writerKeepsAll},
};

} // namespace

std::span<const Rule> effectRules()
{
    return kRules;
}

} // namespace mantissa
