#include "engine/recipe/fields.h"
#include "engine/rules/callback_reading.h"
#include "engine/rules/making.h"
#include "engine/rules/reading.h"

#include <algorithm>
#include <array>

namespace mantissa {
namespace {

constexpr std::array<std::string_view, 3> kBars = {"RichProgressBar", "TQDMProgressBar", "ProgressBar"};
constexpr std::array<std::string_view, 2> kSummaries = {"ModelSummary", "RichModelSummary"};
constexpr const char* kBarSource =
    "src/lightning/pytorch/trainer/connectors/callback_connector.py, _configure_progress_bar";

std::vector<std::string_view> barsOf(const RuleContext& context)
{
    std::vector<std::string_view> bars;
    for (const std::string_view name : kBars)
        bars.insert(bars.end(), callbacksNamed(context, name).size(), name);
    return bars;
}

void barDisabled(RuleContext& context)
{
    const auto bars = barsOf(context);
    const Value& flag = context.at(field::enableProgressBar);
    if (bars.size() != 1 || flag.asBool(!context.at(field::barebones).asBool()))
        return;
    const std::string name(bars.front());
    const auto path = flag.isBool() ? field::enableProgressBar.path : field::barebones.path;
    Finding finding = findingAt(Severity::WontStart, Stage::Configure,
                                {path, std::string(field::callbacks.path) + "[" + name + "]"});
    finding.message = name + " is among the callbacks, and "
        + (flag.isBool() ? "enable_progress_bar is false." : "barebones mode shows no progress.");
    finding.why =
        "The flag says that no progress is shown, the callback shows it. The target refuses to choose.";
    finding.source = inLightning(kBarSource);
    finding.engine = "cannot";
    finding.raises =
        "MisconfigurationException: Trainer was configured with `enable_progress_bar=False` but found `"
        + name + "` in callbacks list.";
    finding.fixes = {
        safeFix("Show no progress", {removeEntry(field::callbacks.path, name)}),
        flag.isBool() ? safeFix("Show the progress", {unset(path)})
                      : changingFix("Leave barebones mode", {unset(path)}),
    };
    context.report(std::move(finding));
}

void twoBars(RuleContext& context)
{
    const auto bars = barsOf(context);
    if (bars.size() < 2)
        return;
    Finding finding = findingAt(Severity::WontStart, Stage::Configure, {field::callbacks.path});
    finding.message = "There are " + std::to_string(bars.size()) + " progress bars: " + std::string(bars[0])
        + " and " + std::string(bars[1]) + (bars.size() > 2 ? " and more." : ".");
    finding.why = "Two bars would write over each other's lines.";
    finding.source = inLightning(kBarSource);
    finding.engine = "cannot";
    finding.raises =
        "MisconfigurationException: You added multiple progress bar callbacks to the Trainer, but "
        "currently only one progress bar is supported.";
    for (std::size_t kept = 0; kept < bars.size(); ++kept) {
        if (kept > 0 && bars[kept] == bars[kept - 1])
            continue;
        std::vector<Edit> edits;
        for (std::size_t i = 0; i < bars.size(); ++i) {
            if (i != kept)
                edits.push_back(removeEntry(field::callbacks.path, bars[i]));
        }
        finding.fixes.push_back(safeFix("Keep " + std::string(bars[kept]), std::move(edits)));
    }
    context.report(std::move(finding));
}

bool isDepth(const Value& depth)
{
    return !depth.isSet() || depth.isBool() || (depth.isInteger() && depth.asInteger() >= -1);
}

void summaryDepth(RuleContext& context)
{
    for (const std::string_view name : kSummaries) {
        for (const auto& summary : callbacksNamed(context, name)) {
            const Value& depth = summary["max_depth"];
            if (isDepth(depth) || !isUsed(context))
                continue;
            Finding finding = findingAt(Severity::WontStart, Stage::Setup, {summary.path("max_depth")});
            finding.message =
                "max_depth=" + depth.text() + " is no depth: it takes -1 (all layers), 0 or more.";
            finding.why =
                "It counts levels of modules inside modules. The value is looked at when the summary is "
                "made, at the start of a run.";
            finding.source =
                inLightning("src/lightning/pytorch/utilities/model_summary/model_summary.py, __init__");
            finding.engine = "cannot";
            finding.raises = "ValueError: `max_depth` can be -1, 0 or > 0, got " + depth.text() + ".";
            finding.fixes = {summary.with("max_depth", -1, "Show all layers"),
                             summary.byDefault("max_depth", "Show the outermost ones, as by default")};
            for (Fix& fix : finding.fixes)
                fix.grade = FixGrade::Safe;
            context.report(std::move(finding));
        }
    }
}

void deviceStatsUnlogged(RuleContext& context)
{
    constexpr std::string_view kName = "DeviceStatsMonitor";
    if (!hasCallback(context, kName) || !fits(context) || hasLogger(context))
        return;
    const bool written = context.at(field::logger).isSet();
    const auto path = written ? field::logger.path : field::barebones.path;
    Finding finding = findingAt(Severity::WontStart, Stage::Setup,
                                {path, std::string(field::callbacks.path) + "[DeviceStatsMonitor]"});
    finding.message = "DeviceStatsMonitor has no logger to write to: "
        + (written ? "logger=" + context.at(field::logger).text() + "."
                   : std::string("barebones mode has none."));
    finding.why = "All it does is to hand the device's counters to the loggers.";
    finding.source = inCallback("device_stats_monitor", "setup");
    finding.engine = "better: a run records them in any case";
    finding.raises = "MisconfigurationException: Cannot use `DeviceStatsMonitor` callback with "
                     "`Trainer(logger=False)`.";
    finding.fixes = {safeFix("Leave the callback out", {removeEntry(field::callbacks.path, kName)}),
                     written ? safeFix("Log to files, as by default", {unset(path)})
                             : changingFix("Leave barebones mode", {unset(path)})};
    context.report(std::move(finding));
}

void rateUnlogged(RuleContext& context)
{
    constexpr std::string_view kName = "LearningRateMonitor";
    if (!hasCallback(context, kName) || !startsLoop(context) || hasLogger(context))
        return;
    const bool written = context.at(field::logger).isSet();
    const auto path = written ? field::logger.path : field::barebones.path;
    Finding finding = findingAt(Severity::WontStart, Stage::FitStart,
                                {path, std::string(field::callbacks.path) + "[LearningRateMonitor]"});
    finding.message = "LearningRateMonitor has no logger to write to: "
        + (written ? "logger=" + context.at(field::logger).text() + "."
                   : std::string("barebones mode has none."));
    finding.why =
        "All it does is to hand the learning rates to the loggers. It looks for one when training starts, "
        "after the sanity check. fast_dev_run does not help where the logger was switched off.";
    finding.source = inCallback("lr_monitor", "on_train_start");
    finding.engine = "better: a run records the learning rate in any case";
    finding.raises =
        "MisconfigurationException: Cannot use `LearningRateMonitor` callback with `Trainer` that has no "
        "logger.";
    finding.fixes = {safeFix("Leave the callback out", {removeEntry(field::callbacks.path, kName)}),
                     written ? safeFix("Log to files, as by default", {unset(path)})
                             : changingFix("Leave barebones mode", {unset(path)})};
    context.report(std::move(finding));
}

void rateInterval(RuleContext& context)
{
    for (const auto& monitor : callbacksNamed(context, "LearningRateMonitor")) {
        const Value& interval = monitor["logging_interval"];
        if (!interval.isSet() || interval.asString() == "step" || interval.asString() == "epoch")
            continue;
        Finding finding = monitor.refused("logging_interval", "__init__");
        finding.source = inCallback("lr_monitor", "__init__");
        finding.message = "logging_interval is " + interval.text() + "; it takes step, epoch or nothing.";
        finding.why = "Without a value each schedule's own interval counts.";
        finding.raises = "MisconfigurationException: logging_interval should be `step` or `epoch` or `None`.";
        finding.fixes = {monitor.with("logging_interval", "step", "At each step"),
                         monitor.with("logging_interval", "epoch", "At each epoch"),
                         monitor.byDefault("logging_interval", "As each schedule steps")};
        for (Fix& fix : finding.fixes)
            fix.grade = FixGrade::Safe;
        context.report(std::move(finding));
    }
}

void groupNamesTwice(RuleContext& context)
{
    if (!hasCallback(context, "LearningRateMonitor") || !startsLoop(context)
        || !otherFact(context, "optimizer.duplicate_group_names").asBool())
        return;
    Finding finding = findingAt(Severity::WontStart, Stage::FitStart,
                                {"mantissa.facts.optimizer.duplicate_group_names",
                                 std::string(field::callbacks.path) + "[LearningRateMonitor]"});
    finding.message =
        "Two parameter groups of the optimizer have the same name, and LearningRateMonitor logs by name.";
    finding.why = "Both rates would be written under one name.";
    finding.source = inCallback("lr_monitor", "_check_duplicates_and_update_name");
    finding.engine = "better: rates are recorded by the group's number";
    finding.raises =
        "MisconfigurationException: A single `Optimizer` cannot have multiple parameter groups with "
        "identical `name` values.";
    finding.fixes = {withoutCallback("LearningRateMonitor", "Leave the callback out"),
                     manualFix("Name the groups apart",
                               "torch.optim.AdamW([{\"params\": body, \"name\": \"body\"},\n"
                               "                   {\"params\": head, \"name\": \"head\"}])")};
    context.report(std::move(finding));
}

/// A stateful callback is found again in a checkpoint by its key, so no two may share one.
void callbackTwice(RuleContext& context)
{
    struct Stateful {
        std::string_view name;
        std::vector<const char*> key; ///< Arguments that tell two of them apart.
    };
    static const std::array kStateful = {
        Stateful{"ModelCheckpoint",
                 {"monitor", "mode", "every_n_train_steps", "every_n_epochs", "train_time_interval"}},
        Stateful{"EarlyStopping", {"monitor", "mode"}},
        Stateful{"Timer", {}},
    };
    for (const Stateful& kind : kStateful) {
        const auto found = callbacksNamed(context, kind.name);
        if (found.size() < 2)
            continue;
        const bool same = std::all_of(kind.key.begin(), kind.key.end(), [&](const char* argument) {
            return found[0][argument] == found[1][argument];
        });
        if (!same)
            continue;
        Finding finding =
            findingAt(Severity::WontStart, Stage::Configure, {found[1].path(), found[0].path()});
        finding.message =
            "There are two callbacks " + std::string(kind.name) + " that a checkpoint cannot tell apart.";
        finding.why = "Their state is saved under a key made of the class and "
            + std::string(kind.key.empty() ? "nothing else." : "of what they watch and when.");
        finding.source = inLightning("src/lightning/pytorch/trainer/connectors/callback_connector.py, "
                                     "_validate_callbacks_list");
        finding.engine = "same";
        finding.raises = "RuntimeError: Found more than one stateful callback of type `"
            + std::string(kind.name)
            + "`. In the current configuration, this callback does not support being saved alongside other "
              "instances";
        finding.fixes = {found[1].without("Leave the second one out"),
                         found[0].without("Leave the first one out")};
        context.report(std::move(finding));
    }
}

constexpr std::array kRules = {
    Rule{"callback-twice", kOfTrainer, {"2.0"}, callbackTwice},
    Rule{"progress-bar-disabled", kOfTrainer, {"2.0"}, barDisabled},
    Rule{"progress-bar-twice", kOfTrainer, {"2.0"}, twoBars},
    Rule{"summary-depth", kOfTrainer, {"2.0"}, summaryDepth},
    Rule{"device-stats-unlogged", kOfTrainer, {"2.0"}, deviceStatsUnlogged},
    Rule{"rate-monitor-unlogged", kOfTrainer, {"2.0"}, rateUnlogged},
    Rule{"rate-monitor-interval", kOfTrainer, {"2.0"}, rateInterval},
    Rule{"rate-monitor-group-names", kOfTrainer, {"2.0"}, groupNamesTwice},
};

} // namespace

std::span<const Rule> reportingRules()
{
    return kRules;
}

} // namespace mantissa
