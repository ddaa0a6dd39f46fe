#include "engine/recipe/fields.h"
#include "engine/rules/callback_reading.h"
#include "engine/rules/making.h"
#include "engine/rules/metric_reading.h"
#include "engine/rules/reading.h"

#include <array>

namespace mantissa {
namespace {

constexpr const char* kAutomatic =
    "src/lightning/pytorch/core/optimizer.py, _configure_schedulers_automatic_opt";
constexpr const char* kUpdate = "src/lightning/pytorch/loops/training_epoch_loop.py, _update_learning_rates";
constexpr std::string_view kPlateau = "ReduceLROnPlateau";

std::string scheduleName(const RuleContext& context)
{
    return classOf(context.at("lr_scheduler"));
}

/// configure_optimizers is asked for a schedule, and Lightning is to step it.
bool isScheduled(RuleContext& context)
{
    const auto isZero = [&](const Field& field) {
        return context.at(field).isInteger() && context.at(field).asInteger() == 0;
    };
    const bool any = context.at("lr_scheduler").isSet() || otherFact(context, "lr_scheduler").isMap();
    const bool trains = fits(context) || otherFact(context, "run.before_fit").asBool();
    return trains && any && !isZero(field::numSchedules) && !isZero(field::numOptimizers);
}

/// The schedule is handed over without a dictionary that could say more about it.
bool isBare(const RuleContext& context)
{
    return otherFact(context, "lr_scheduler.config").asString() == "bare";
}

std::string monitorOf(const RuleContext& context)
{
    const std::string own = context.at(field::scheduleMonitor).asString();
    return own.empty() ? context.at(field::plateauMonitor).asString() : own;
}

const char* inDictionary()
{
    return "return {\"optimizer\": optimizer,\n"
           "        \"lr_scheduler\": {\"scheduler\": scheduler, \"monitor\": \"val_loss\"}}";
}

void plateauUnmonitored(RuleContext& context)
{
    if (scheduleName(context) != kPlateau || !isScheduled(context)
        || (!isBare(context) && !monitorOf(context).empty()) || !isAutomatic(context))
        return;
    const bool bare = isBare(context);
    Finding finding =
        findingAt(Severity::WontStart, Stage::Setup, {field::scheduleMonitor.path, "lr_scheduler"});
    finding.message = bare
        ? "ReduceLROnPlateau is returned by itself, and nothing says which metric it watches."
        : "ReduceLROnPlateau is returned without a monitor.";
    finding.why = "It lowers the rate when a metric stops getting better. Lightning calls it and has to hand "
                  "the metric "
                  "over; its name stands in the dictionary around the schedule.";
    finding.source = inLightning(kAutomatic);
    finding.engine = "same";
    finding.raises = bare ? "MisconfigurationException: `configure_optimizers` must include a monitor when a "
                            "`ReduceLROnPlateau` "
                            "scheduler is used."
                          : "MisconfigurationException: The lr scheduler dict must include a monitor when a "
                            "`ReduceLROnPlateau` "
                            "scheduler is used.";
    std::vector<Edit> around;
    if (bare)
        around.push_back(unset("mantissa.facts.lr_scheduler.config"));
    auto metrics = metricsAtHand(context, {});
    if (metrics.empty())
        metrics.emplace_back("val_loss");
    for (const std::string& metric : metrics) {
        auto edits = around;
        edits.push_back(setTo(field::scheduleMonitor.path, metric));
        finding.fixes.push_back(changingFix("Watch " + metric, std::move(edits), inDictionary()));
    }
    finding.fixes.push_back(
        changingFix("Keep the rate constant", {unset("lr_scheduler"), unset("mantissa.facts.lr_scheduler")}));
    context.report(std::move(finding));
}

void plateauMetricMissing(RuleContext& context)
{
    const std::string metric = monitorOf(context);
    const std::int64_t every = context.at(field::scheduleFrequency).asInteger(1);
    const auto epochs = lastEpoch(context);
    if (scheduleName(context) != kPlateau || metric.empty() || !isScheduled(context) || isBare(context)
        || !startsLoop(context) || !context.at(field::scheduleStrict).asBool(true)
        || (epochs && every > *epochs) || hasCallback(context, "StochasticWeightAveraging")
        || !isAutomatic(context))
        return;
    const bool first = every == 1 && !isTrialRun(context);
    const std::string why = whyMissing(context, metric, LooksFor::EachEpoch);
    if (why.empty() || (!first && why.ends_with("out")))
        return;
    Finding finding = findingAt(Severity::Stops, Stage::Optimizer,
                                {field::scheduleMonitor.path, "mantissa.facts.logs_val"});
    finding.message = "ReduceLROnPlateau watches " + metric + ", and " + why + ".";
    finding.why =
        "The schedule steps at the end of an epoch, when the metric has to be among what was logged. With "
        "strict=True, the default, a missing one ends the run.";
    finding.source = inLightning(kUpdate);
    finding.engine = "same";
    finding.raises = "MisconfigurationException: ReduceLROnPlateau conditioned on metric " + metric
        + " which is not available.";
    for (const std::string& other : metricsAtHand(context, metric))
        finding.fixes.push_back(changingFix("Watch " + other, {setTo(field::scheduleMonitor.path, other)}));
    finding.fixes.push_back(changingFix("Tolerate a missing metric",
                                        {setTo(field::scheduleStrict.path, false)},
                                        "The rate then stays as it is whenever the metric is missing."));
    finding.fixes.push_back(
        manualFix("Log it", "self.log(\"" + metric + "\", value) in the module, before the epoch ends"));
    context.report(std::move(finding));
}

bool knowsMomentum(const std::string& optimizer)
{
    constexpr std::array<std::string_view, 6> kWithout = {"LBFGS", "Adagrad", "Adadelta",
                                                          "Rprop", "ASGD",    "Adafactor"};
    for (const std::string_view name : kWithout) {
        if (optimizer == name)
            return false;
    }
    return true;
}

void cycleMomentum(RuleContext& context)
{
    const std::string optimizer = classOf(context.at("optimizer"));
    const std::string name = scheduleName(context);
    if ((name != "OneCycleLR" && name != "CyclicLR") || !isScheduled(context) || knowsMomentum(optimizer)
        || !context.at(field::cycleMomentum).asBool(true))
        return;
    Finding finding =
        findingAt(Severity::WontStart, Stage::Setup, {"lr_scheduler", field::optimizerClass.path});
    finding.message = name + " turns the momentum up and down, and " + optimizer + " has none.";
    finding.why =
        "With cycle_momentum=True, the default, the schedule changes momentum or the first beta against the "
        "learning rate. An optimizer that has neither is refused when the schedule is made.";
    finding.source = inTorch("torch/optim/lr_scheduler.py, " + name + ".__init__");
    finding.engine = "same";
    finding.raises =
        "ValueError: optimizer must support momentum or beta1 with `cycle_momentum` option enabled";
    finding.fixes = {
        safeFix("Leave the momentum alone", {setTo(field::cycleMomentum.path, false)}),
        changingFix("Use AdamW", {setTo(field::optimizerClass.path, "torch.optim.AdamW")}),
        changingFix("Use SGD with momentum",
                    {setTo(field::optimizerClass.path, "torch.optim.SGD"), setTo(field::momentum.path, 0.9)}),
    };
    context.report(std::move(finding));
}

void frequencyZero(RuleContext& context)
{
    const Value& every = context.at(field::scheduleFrequency);
    if (!every.isInteger() || every.asInteger() != 0 || !isScheduled(context) || isBare(context)
        || !startsLoop(context) || !isAutomatic(context))
        return;
    Finding finding = findingAt(Severity::Stops, Stage::Optimizer, {field::scheduleFrequency.path});
    finding.message = "The schedule is to step every 0 epochs or steps.";
    finding.why = "The count of epochs or batches is divided by the frequency; nobody checks it before.";
    finding.source = inLightning(kUpdate);
    finding.engine = "same";
    finding.raises = "ZeroDivisionError: integer modulo by zero";
    finding.fixes = {
        changingFix("Step each time", {unset(field::scheduleFrequency.path)}),
        changingFix("Keep the rate constant", {unset("lr_scheduler"), unset("mantissa.facts.lr_scheduler")}),
    };
    context.report(std::move(finding));
}

void intervalUnknown(RuleContext& context)
{
    const Value& interval = context.at(field::scheduleInterval);
    const std::string text = interval.asString();
    if (!interval.isSet() || text == "step" || text == "epoch" || !isScheduled(context) || isBare(context)
        || !isAutomatic(context))
        return;
    Finding finding = findingAt(Severity::WontStart, Stage::Setup, {field::scheduleInterval.path});
    finding.message = "The schedule's interval is " + interval.text() + "; it takes step or epoch.";
    finding.why = "It says whether the schedule steps after each optimizer step or after each epoch.";
    finding.source = inLightning(kAutomatic);
    finding.engine = "same";
    finding.raises =
        "MisconfigurationException: The \"interval\" key in lr scheduler dict must be \"step\" or "
        "\"epoch\" but is \""
        + text + "\"";
    finding.fixes = {changingFix("After each step", {setTo(field::scheduleInterval.path, "step")}),
                     changingFix("After each epoch, as by default", {unset(field::scheduleInterval.path)})};
    context.report(std::move(finding));
}

void withoutSchedule(RuleContext& context)
{
    constexpr const char* kPath = "mantissa.facts.lr_scheduler.omit_scheduler";
    if (!context.at(kPath).asBool() || !isScheduled(context) || isBare(context) || !isAutomatic(context))
        return;
    Finding finding = findingAt(Severity::WontStart, Stage::Setup, {kPath});
    finding.message = "The dictionary of the schedule lacks the schedule itself.";
    finding.why = "It is looked for under the key scheduler; the other keys only say how it is used.";
    finding.source = inLightning(kAutomatic);
    finding.engine = "cannot";
    finding.raises =
        "MisconfigurationException: The lr scheduler dict must have the key \"scheduler\" with its item "
        "being an lr scheduler";
    finding.fixes = {
        changingFix("Put it in", {unset(kPath)}, "\"lr_scheduler\": {\"scheduler\": scheduler, …}")};
    context.report(std::move(finding));
}

void extraKeys(RuleContext& context)
{
    constexpr const char* kPath = "mantissa.facts.lr_scheduler.extra_keys";
    const auto& keys = context.at(kPath).asList();
    if (keys.empty() || !isScheduled(context) || isBare(context))
        return;
    const bool automatic = isAutomatic(context);
    const std::string key = keys.front().asString();
    Finding finding = findingAt(automatic ? Severity::Differs : Severity::WontStart, Stage::Setup, {kPath});
    finding.message = "The dictionary of the schedule has the key " + key
        + ", which means nothing to Lightning" + (automatic ? "; it is left out." : ".");
    finding.why = automatic
        ? "Often a name is misspelt, and the default counts in its place. There is only a warning."
        : "In manual optimization the keys are handed on as they are, and an unknown one is refused.";
    finding.source = automatic
        ? inLightning(kAutomatic)
        : inLightning("src/lightning/pytorch/core/optimizer.py, _configure_schedulers_manual_opt");
    finding.engine = "cannot";
    finding.raises = automatic
        ? "RuntimeWarning: Found unsupported keys in the lr scheduler dict"
        : "TypeError: LRSchedulerConfig.__init__() got an unexpected keyword argument '" + key + "'";
    finding.fixes = {
        safeFix("Leave it out", {unset(kPath)},
                "It knows scheduler, interval, frequency, monitor, strict, name and reduce_on_plateau.")};
    context.report(std::move(finding));
}

void ofOtherOptimizer(RuleContext& context)
{
    constexpr const char* kPath = "mantissa.facts.lr_scheduler.foreign";
    if (!context.at(kPath).asBool() || !isScheduled(context))
        return;
    Finding finding = findingAt(Severity::WontStart, Stage::Setup, {kPath});
    finding.message = "The schedule belongs to an optimizer that configure_optimizers does not return.";
    finding.why = "It would change the rate of an optimizer that never steps.";
    finding.source = inLightning("src/lightning/pytorch/core/optimizer.py, _validate_optimizers_attached");
    finding.engine = "cannot";
    finding.raises =
        "MisconfigurationException: Some schedulers are attached with an optimizer that wasn't returned "
        "from `configure_optimizers`.";
    finding.fixes = {changingFix("Make the schedule with the optimizer that is returned", {unset(kPath)},
                                 "scheduler = StepLR(optimizer, …); return [optimizer], [scheduler]")};
    context.report(std::move(finding));
}

void ownClass(RuleContext& context)
{
    const std::string name = scheduleName(context);
    const bool stateless = name == "StatelessScheduler";
    if ((name != "CustomScheduler" && !stateless) || !isScheduled(context)
        || (!stateless && (overrides(context, "lr_scheduler_step") || !isAutomatic(context))))
        return;
    Finding finding = findingAt(Severity::WontStart, Stage::Setup, {field::scheduleClass.path});
    finding.message = stateless
        ? "The schedule has no state_dict and load_state_dict."
        : "The schedule is of no class of torch, and the module does not step it itself.";
    finding.why = stateless
        ? "Its state is saved in each checkpoint."
        : "How a schedule is stepped is only known of those that follow torch's LRScheduler.";
    finding.source = inLightning("src/lightning/pytorch/core/optimizer.py, _validate_scheduler_api");
    finding.engine = "cannot";
    finding.raises = stateless ? "TypeError: The provided lr scheduler `" + name + "` is invalid."
                               : "MisconfigurationException: The provided lr scheduler `" + name
            + "` doesn't follow PyTorch's LRScheduler API.";
    ValueList hooks = context.at(field::overrides).asList();
    hooks.emplace_back("lr_scheduler_step");
    if (!stateless)
        finding.fixes.push_back(changingFix("Step it in the module",
                                            {setTo(field::overrides.path, std::move(hooks))},
                                            "def lr_scheduler_step(self, scheduler, metric):\n"
                                            "    scheduler.step(epoch=self.current_epoch)"));
    finding.fixes.push_back(changingFix(
        "Use a schedule of torch", {setTo(field::scheduleClass.path, "torch.optim.lr_scheduler.StepLR")}));
    context.report(std::move(finding));
}

void cycleByEpoch(RuleContext& context)
{
    if (scheduleName(context) != "OneCycleLR" || !isScheduled(context)
        || context.at(field::scheduleInterval).asString("epoch") != "epoch" || !isAutomatic(context))
        return;
    Finding finding = findingAt(Severity::Differs, Stage::Optimizer, {field::scheduleInterval.path});
    finding.message = "OneCycleLR steps once an epoch; it is made to step after each batch.";
    finding.why = "The cycle has as many steps as the run has batches. Stepped by epoch, which is the "
                  "default, it hardly "
                  "leaves its beginning: the rate stays near its lowest value.";
    finding.source = inLightning(kAutomatic);
    finding.engine = "same";
    finding.raises = "RuntimeWarning: A `OneCycleLR` scheduler is using 'interval': 'epoch'.";
    std::vector<Edit> edits = {setTo(field::scheduleInterval.path, "step")};
    if (isBare(context))
        edits.push_back(unset("mantissa.facts.lr_scheduler.config"));
    finding.fixes = {changingFix("Step it after each batch", std::move(edits),
                                 "\"lr_scheduler\": {\"scheduler\": scheduler, \"interval\": \"step\"}")};
    context.report(std::move(finding));
}

constexpr std::array kRules = {
    Rule{"plateau-unmonitored", kOfTrainer, {"2.0"}, plateauUnmonitored},
    Rule{"plateau-metric-missing", kOfTrainer, {"2.0"}, plateauMetricMissing},
    Rule{"schedule-momentum", kOfTrainer, {"2.0"}, cycleMomentum},
    Rule{"schedule-frequency", kOfTrainer, {"2.0"}, frequencyZero},
    Rule{"schedule-interval", kOfTrainer, {"2.0"}, intervalUnknown},
    Rule{"schedule-left-out", kOfTrainer, {"2.0"}, withoutSchedule},
    Rule{"schedule-extra-keys", kOfTrainer, {"2.0"}, extraKeys},
    Rule{"schedule-of-other-optimizer", kOfTrainer, {"2.0"}, ofOtherOptimizer},
    Rule{"schedule-own-class", kOfTrainer, {"2.0"}, ownClass},
    Rule{"schedule-cycle-by-epoch", kOfTrainer, {"2.0"}, cycleByEpoch},
};

} // namespace

std::span<const Rule> scheduleRules()
{
    return kRules;
}

} // namespace mantissa
