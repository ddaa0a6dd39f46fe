#include "engine/recipe/fields.h"
#include "engine/rules/callback_reading.h"
#include "engine/rules/making.h"
#include "engine/rules/metric_reading.h"
#include "engine/rules/reading.h"
#include "engine/rules/search_reading.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace mantissa {
namespace {

constexpr std::string_view kStop = "EarlyStopping";
constexpr std::string_view kSpike = "SpikeDetection";

/// Whether it looks at the end of each training epoch, or after each validation.
LooksFor whenItLooks(const RuleContext& context, const CallbackReading& stop)
{
    const Value& chosen = stop["check_on_train_epoch_end"];
    if (chosen.isBool())
        return chosen.asBool() ? LooksFor::EachEpoch : LooksFor::EachValidation;
    const Value& interval = context.at(field::valCheckInterval);
    const Value& every = context.at(field::checkValEveryNEpoch);
    const bool once = !interval.isSet() || (interval.isDouble() && interval.asDouble() == 1.0)
        || (interval.isInteger() && interval.asInteger() == 1);
    const bool eachEpoch = every.isAbsent() || (every.isInteger() && every.asInteger() == 1);
    return once && eachEpoch ? LooksFor::EachEpoch : LooksFor::EachValidation;
}

void stopMetricMissing(RuleContext& context)
{
    for (const auto& stop : callbacksNamed(context, kStop)) {
        const std::string metric = stop["monitor"].asString();
        if (metric.empty() || !stop["strict"].asBool(true) || !startsLoop(context) || isTrialRun(context))
            continue;
        const LooksFor when = whenItLooks(context, stop);
        const std::string why = whyMissing(context, metric, when);
        if (why.empty())
            continue;
        Finding finding =
            findingAt(Severity::Stops, Stage::Record, {stop.path("monitor"), "mantissa.facts.logs_val"});
        finding.message = "EarlyStopping watches " + metric + ", and " + why + ".";
        finding.why = std::string("It looks ")
            + (when == LooksFor::EachEpoch ? "at the end of each training epoch" : "after each validation")
            + ". With strict=True, the default, a metric that is missing then ends the run.";
        finding.source = inCallback("early_stopping", "_validate_condition_metric");
        finding.engine = "same";
        finding.raises =
            "RuntimeError: Early stopping conditioned on metric `" + metric + "` which is not available.";
        for (const std::string& other : metricsAtHand(context, metric))
            finding.fixes.push_back(stop.with("monitor", other, "Watch " + other));
        finding.fixes.push_back(
            stop.with("strict", false, "Tolerate a missing metric",
                      "There is a warning, and the run never stops early while it is missing."));
        finding.fixes.push_back(stop.without("Leave the callback out"));
        finding.fixes.push_back(manualFix("Log it", "self.log(\"" + metric + "\", value) in the module"));
        context.report(std::move(finding));
    }
}

void stopMode(RuleContext& context)
{
    for (const auto& stop : callbacksNamed(context, kStop)) {
        const std::string mode = stop["mode"].asString("min");
        if (mode == "min" || mode == "max")
            continue;
        Finding finding = stop.refused("mode", "__init__");
        finding.message = "mode is \"" + mode + "\"; EarlyStopping knows min and max.";
        finding.why = "It says whether low or high values of the metric are good.";
        finding.raises = "MisconfigurationException: `mode` can be min, max, got " + mode;
        finding.fixes = {stop.with("mode", "min", "Low is good, as for a loss"),
                         stop.with("mode", "max", "High is good, as for an accuracy")};
        context.report(std::move(finding));
    }
}

/// "00:12:30:00": days, hours, minutes and seconds.
bool isDuration(const std::string& text)
{
    int parts = 1;
    int digits = 0;
    for (const char c : text) {
        if (c == ':') {
            if (digits == 0)
                return false;
            ++parts;
            digits = 0;
        } else if (std::isdigit(static_cast<unsigned char>(c)) != 0) {
            ++digits;
        } else {
            return false;
        }
    }
    return parts == 4 && digits > 0;
}

/// "5" may mean any unit; "1:00:00" surely hours.
std::string meantDuration(const std::string& text)
{
    const std::string whole = std::count(text.begin(), text.end(), ':') == 2 ? "00:" + text : text;
    return isDuration(whole) ? whole : "00:12:00:00";
}

void durationForm(RuleContext& context)
{
    const auto report = [&](const Value& value, const std::string& path) {
        if (!value.isString() || isDuration(value.asString()))
            return;
        const std::string text = value.asString();
        Finding finding = findingAt(Severity::WontStart, Stage::Configure, {path});
        finding.message =
            "\"" + text + "\" is no duration: it takes days, hours, minutes and seconds as DD:HH:MM:SS.";
        finding.why =
            "max_time becomes a Timer, which reads the text when it is made. A map such as {hours: 12} or a "
            "timedelta would do as well.";
        finding.source = inCallback("timer", "__init__");
        finding.engine = "same";
        finding.raises = "MisconfigurationException: `Timer(duration='" + text
            + "')` is not a valid duration. Expected a string in the format DD:HH:MM:SS.";
        const std::string meant = meantDuration(text);
        finding.fixes = {changingFix("Write " + meant, {setTo(path, meant)}),
                         changingFix("Set no limit of time", {unset(path)})};
        context.report(std::move(finding));
    };
    report(context.at(field::maxTime), std::string(field::maxTime.path));
    for (const auto& timer : callbacksNamed(context, "Timer"))
        report(timer["duration"], timer.path("duration"));
}

void timerInterval(RuleContext& context)
{
    for (const auto& timer : callbacksNamed(context, "Timer")) {
        const std::string interval = timer["interval"].asString("step");
        if (interval == "step" || interval == "epoch")
            continue;
        Finding finding = timer.refused("interval", "__init__");
        finding.message =
            "interval is " + interval + "; Timer looks at the clock after each step or each epoch.";
        finding.why = "A run stops at the first look after its time is over.";
        finding.raises = "MisconfigurationException: Unsupported parameter value `Timer(interval=" + interval
            + ")`. Possible choices are: step, epoch";
        finding.fixes = {
            timer.byDefault("interval", "After each step, as by default"),
            timer.with("interval", "epoch", "After each epoch", "An epoch that was begun is finished.")};
        finding.fixes.front().grade = FixGrade::Safe;
        context.report(std::move(finding));
    }
}

void spikeWithSearch(RuleContext& context)
{
    if (!hasCallback(context, kSpike) || !startsLoop(context) || isTrialRun(context))
        return;
    auto found = batchSearches(context);
    for (const Search& search : rateSearches(context))
        found.push_back(search);
    if (found.empty())
        return;
    const std::string path = std::string(field::callbacks.path) + "[" + std::string(kSpike) + "]";
    Finding finding = findingAt(Severity::Stops, Stage::FitStart, {path, found.front().path});
    finding.message =
        "SpikeDetection cannot read back its state, which " + found.front().name() + " asks of it.";
    finding.why =
        "After a search the state from before is put back. The callback's load_state_dict refers to a field "
        "that it does not have; a resumed run meets the same.";
    finding.source = inLightning("src/lightning/fabric/utilities/spike.py, load_state_dict");
    finding.engine = "better: its state is saved and read back";
    finding.raises = "AttributeError: 'SpikeDetection' object has no attribute 'running'";
    finding.fixes = {found.front().without("Leave the search out"),
                     withoutCallback(kSpike, "Leave SpikeDetection out")};
    context.report(std::move(finding));
}

void spikeWithoutLoss(RuleContext& context)
{
    if (!hasCallback(context, kSpike) || !startsLoop(context)
        || context.at(field::trainingStepOutput).asString() != "none")
        return;
    Finding finding = findingAt(Severity::Stops, Stage::Loss,
                                {field::trainingStepOutput.path,
                                 std::string(field::callbacks.path) + "[" + std::string(kSpike) + "]"});
    finding.message = "SpikeDetection looks at the loss, and training_step returns none.";
    finding.why = "The callback is handed an empty mapping and looks for its entry loss.";
    finding.source = inCallback("spike", "on_train_batch_end");
    finding.engine = "cannot";
    finding.raises = "KeyError: 'loss'";
    finding.fixes = {withoutCallback(kSpike, "Leave SpikeDetection out"),
                     manualFix("Return the loss", "return {\"loss\": loss} at the end of training_step")};
    context.report(std::move(finding));
}

void spikeMode(RuleContext& context)
{
    for (const auto& spike : callbacksNamed(context, kSpike)) {
        const std::string mode = spike["mode"].asString("min");
        if (mode == "min" || mode == "max" || !takesSteps(context))
            continue;
        Finding finding = findingAt(Severity::Stops, Stage::Record, {spike.path("mode")});
        finding.message = "mode is \"" + mode + "\"; SpikeDetection knows min and max.";
        finding.why = "It says whether a spike goes up or down. The value is looked at when two losses are "
                      "compared for "
                      "the first time, after the warm-up.";
        finding.source = inLightning("src/lightning/fabric/utilities/spike.py, _is_better");
        finding.engine = "same";
        finding.raises = "ValueError: Invalid mode. Has to be min or max, found " + mode;
        finding.fixes = {
            spike.without("Leave SpikeDetection out"),
            manualFix("Say which way is good", "SpikeDetection(mode=\"min\") for a loss: a spike goes up")};
        context.report(std::move(finding));
    }
}

constexpr std::array kRules = {
    Rule{"early-stopping-metric-missing", kOfTrainer, {"2.0"}, stopMetricMissing},
    Rule{"early-stopping-mode", kOfTrainer, {"2.0"}, stopMode},
    Rule{"timer-duration", kOfTrainer, {"2.0"}, durationForm},
    Rule{"timer-interval", kOfTrainer, {"2.0"}, timerInterval},
    Rule{"spike-with-search", kOfTrainer, {"2.1"}, spikeWithSearch},
    Rule{"spike-without-loss", kOfTrainer, {"2.1"}, spikeWithoutLoss},
    Rule{"spike-mode", kOfTrainer, {"2.1"}, spikeMode},
};

} // namespace

std::span<const Rule> stoppingRules()
{
    return kRules;
}

} // namespace mantissa
