#include "engine/recipe/fields.h"
#include "engine/rules/callback_reading.h"
#include "engine/rules/making.h"
#include "engine/rules/metric_reading.h"
#include "engine/rules/reading.h"

#include <array>

namespace mantissa {
namespace {

constexpr std::string_view kCheckpoint = "ModelCheckpoint";
constexpr std::string_view kOnException = "OnExceptionCheckpoint";
constexpr const char* kValidate = "__validate_init_configuration";

std::string pythonText(const Value& value)
{
    if (value.isBool())
        return value.asBool() ? "True" : "False";
    return value.isSet() ? value.text() : "None";
}

void topKUnmonitored(RuleContext& context)
{
    for (const auto& checkpoint : callbacksNamed(context, kCheckpoint)) {
        const std::int64_t best = checkpoint["save_top_k"].asInteger(1);
        if (checkpoint["monitor"].isSet() || best < 2)
            continue;
        Finding finding = checkpoint.refused("save_top_k", kValidate);
        finding.paths.push_back(checkpoint.path("monitor"));
        finding.message = "ModelCheckpoint is to keep the best " + std::to_string(best)
            + " checkpoints, and monitors nothing that would tell which they are.";
        finding.why =
            "Without a monitor there is no order among checkpoints. It takes 1 (the newest), -1 (all) or 0 "
            "(none) then.";
        finding.raises = "MisconfigurationException: ModelCheckpoint(save_top_k=" + std::to_string(best)
            + ", monitor=None) is not a valid configuration. No quantity for top_k to track.";
        finding.fixes = {
            checkpoint.with("save_top_k", 1, "Keep the newest one"),
            checkpoint.with("save_top_k", -1, "Keep all of them",
                            "Each of them takes its place on the disk."),
        };
        for (const std::string& metric : metricsAtHand(context, {}))
            finding.fixes.push_back(checkpoint.with("monitor", metric, "Rank them by " + metric,
                                                    "Low is good by default; mode=\"max\" turns it round."));
        if (finding.fixes.size() == 2)
            finding.fixes.push_back(
                manualFix("Name what to rank them by",
                          "ModelCheckpoint(save_top_k=" + std::to_string(best)
                              + ", monitor=\"val_loss\"), and self.log(\"val_loss\", …) in "
                                "validation_step"));
        context.report(std::move(finding));
    }
}

bool keepsCheckpoints(const RuleContext& context)
{
    return context.at(field::enableCheckpointing).asBool(!context.at(field::barebones).asBool());
}

void disabled(RuleContext& context)
{
    const bool exception = hasCallback(context, kOnException);
    const std::string name(exception && !hasCallback(context, kCheckpoint) ? kOnException : kCheckpoint);
    if (!hasCallback(context, name) || keepsCheckpoints(context))
        return;
    const bool written = context.at(field::enableCheckpointing).isBool();
    Finding finding = findingAt(Severity::WontStart, Stage::Configure,
                                {written ? field::enableCheckpointing.path : field::barebones.path,
                                 std::string(field::callbacks.path) + "[" + name + "]"});
    finding.message = name + " is among the callbacks, and "
        + (written ? "enable_checkpointing is false." : "barebones mode switches checkpoints off.");
    finding.why =
        "The flag says that nothing is saved, the callback says what is saved. The target refuses to choose.";
    finding.source = inLightning("src/lightning/pytorch/trainer/connectors/callback_connector.py, "
                                 "_configure_checkpoint_callbacks");
    finding.engine = "better: saves nothing";
    finding.raises =
        "MisconfigurationException: Trainer was configured with `enable_checkpointing=False` but found "
        "`ModelCheckpoint` in callbacks list.";
    std::vector<Edit> without;
    for (const std::string_view one : {kCheckpoint, kOnException}) {
        const auto found = callbacksNamed(context, one);
        for (std::size_t i = 0; i < found.size(); ++i)
            without.push_back(removeEntry(field::callbacks.path, one));
    }
    finding.fixes = {
        changingFix("Save, as the callback says",
                    {unset(written ? field::enableCheckpointing.path : field::barebones.path)}),
        changingFix("Save nothing", std::move(without)),
    };
    context.report(std::move(finding));
}

void topKRange(RuleContext& context)
{
    for (const auto& checkpoint : callbacksNamed(context, kCheckpoint)) {
        const Value& best = checkpoint["save_top_k"];
        if (best.asInteger(1) >= -1)
            continue;
        Finding finding = checkpoint.refused("save_top_k", kValidate);
        finding.message =
            "save_top_k=" + best.text() + " is no number of checkpoints: it takes -1 (all) or more.";
        finding.why = "Only -1 has a meaning below 0.";
        finding.raises =
            "MisconfigurationException: Invalid value for save_top_k=" + best.text() + ". Must be >= -1";
        finding.fixes = {checkpoint.with("save_top_k", -1, "Keep all of them"),
                         checkpoint.byDefault("save_top_k", "Keep one, as by default")};
        context.report(std::move(finding));
    }
}

void everyRange(RuleContext& context)
{
    for (const auto& checkpoint : callbacksNamed(context, kCheckpoint)) {
        for (const char* name : {"every_n_train_steps", "every_n_epochs"}) {
            const Value& every = checkpoint[name];
            if (every.asInteger() >= 0)
                continue;
            Finding finding = checkpoint.refused(name, kValidate);
            finding.message =
                std::string(name) + "=" + every.text() + " is no distance: it takes 0 (never) or more.";
            finding.why = "Checkpoints are saved each time that many steps or epochs have passed.";
            finding.raises = "MisconfigurationException: Invalid value for " + std::string(name) + "="
                + every.text() + ". Must be >= 0";
            finding.fixes = {checkpoint.byDefault(name, "Leave it out: save after each validation or epoch"),
                             checkpoint.with(name, 0, "0: not by this count")};
            context.report(std::move(finding));
            break;
        }
    }
}

/// The ways in which a checkpoint's moment is given; they shut each other out.
void triggers(RuleContext& context)
{
    constexpr std::array kMoments = {"every_n_train_steps", "every_n_epochs", "train_time_interval"};
    for (const auto& checkpoint : callbacksNamed(context, kCheckpoint)) {
        std::vector<std::string> given;
        for (const char* name : kMoments) {
            const Value& value = checkpoint[name];
            if (value.isInteger() && std::string_view(name) != "train_time_interval" ? value.asInteger() > 0
                                                                                     : value.isSet())
                given.emplace_back(name);
        }
        if (given.size() < 2)
            continue;
        Finding finding = checkpoint.refused(given.front(), kValidate);
        finding.message = "ModelCheckpoint is to save by " + given[0] + " and by " + given[1] + ".";
        finding.why = "One callback saves at one kind of moment. A second ModelCheckpoint can have another.";
        finding.raises = "MisconfigurationException: Combination of parameters every_n_train_steps="
            + pythonText(checkpoint[kMoments[0]]) + ", every_n_epochs=" + pythonText(checkpoint[kMoments[1]])
            + " and train_time_interval=…";
        finding.paths.clear();
        for (const std::string& kept : given) {
            finding.paths.push_back(checkpoint.path(kept));
            std::vector<Edit> edits;
            for (const std::string& name : given) {
                if (name != kept)
                    edits.push_back(unset(checkpoint.path(name)));
            }
            finding.fixes.push_back(changingFix("Save by " + kept + " only", std::move(edits)));
        }
        context.report(std::move(finding));
    }
}

void modeUnknown(RuleContext& context)
{
    for (const auto& checkpoint : callbacksNamed(context, kCheckpoint)) {
        const std::string mode = checkpoint["mode"].asString("min");
        if (mode == "min" || mode == "max")
            continue;
        Finding finding = checkpoint.refused("mode", "__init_monitor_mode");
        finding.message = "mode is \"" + mode + "\"; ModelCheckpoint knows min and max.";
        finding.why =
            "It says whether low or high values of the monitored metric are good. Guessing it from the name "
            "(auto) was removed.";
        finding.raises = "MisconfigurationException: `mode` can be min, max but got " + mode;
        finding.fixes = {checkpoint.with("mode", "min", "Low is good, as for a loss"),
                         checkpoint.with("mode", "max", "High is good, as for an accuracy")};
        context.report(std::move(finding));
    }
}

void metricMissing(RuleContext& context)
{
    for (const auto& checkpoint : callbacksNamed(context, kCheckpoint)) {
        const std::string metric = checkpoint["monitor"].asString();
        const bool otherMoments = checkpoint["every_n_train_steps"].asInteger() > 0
            || checkpoint["train_time_interval"].isSet() || checkpoint["every_n_epochs"].asInteger(1) != 1;
        if (metric.empty() || otherMoments || checkpoint["save_top_k"].asInteger(1) == 0
            || !startsLoop(context) || isTrialRun(context))
            continue;
        const std::string why = whyMissing(context, metric, LooksFor::EachValidation);
        if (why.empty())
            continue;
        Finding finding = findingAt(Severity::Stops, Stage::Record,
                                    {checkpoint.path("monitor"), "mantissa.facts.logs_val"});
        finding.message = "ModelCheckpoint ranks by " + metric + ", and " + why + ".";
        finding.why =
            "After the first validation a metric that is still missing is taken for a mistake. As long as "
            "none has run, there is only a warning, and the newest checkpoint is kept.";
        finding.source = inCallback("model_checkpoint", "_save_topk_checkpoint");
        finding.engine = "same";
        finding.raises = "MisconfigurationException: `ModelCheckpoint(monitor='" + metric
            + "')` could not find the monitored key in the returned metrics";
        for (const std::string& other : metricsAtHand(context, metric))
            finding.fixes.push_back(checkpoint.with("monitor", other, "Rank by " + other));
        finding.fixes.push_back(checkpoint.byDefault("monitor", "Keep the newest, whatever its metrics are"));
        finding.fixes.push_back(
            manualFix("Log it", "self.log(\"" + metric + "\", value) in validation_step of the module"));
        context.report(std::move(finding));
    }
}

void exceptionFileName(RuleContext& context)
{
    for (const auto& checkpoint : callbacksNamed(context, kOnException)) {
        const Value& name = checkpoint["filename"];
        if (!name.isString() || !name.asString().empty())
            continue;
        Finding finding = checkpoint.refused("filename", "__init__");
        finding.message = "OnExceptionCheckpoint is given an empty file name.";
        finding.why = "The checkpoint of a run that failed needs a name, without its ending.";
        finding.engine = "cannot";
        finding.raises = "ValueError: The filename cannot be empty";
        finding.fixes = {checkpoint.byDefault("filename", "Use the name by default, on_exception")};
        finding.fixes.front().grade = FixGrade::Safe;
        context.report(std::move(finding));
    }
}

void lastLinkRemote(RuleContext& context)
{
    for (const auto& checkpoint : callbacksNamed(context, kCheckpoint)) {
        const std::string folder =
            checkpoint["dirpath"].asString(context.at(field::defaultRootDir).asString());
        if (checkpoint["save_last"].asString() != "link" || folder.find("://") == std::string::npos
            || !fits(context) || isTrialRun(context))
            continue;
        Finding finding = findingAt(Severity::WontStart, Stage::Setup, {checkpoint.path("save_last")});
        finding.message = "save_last is link, and checkpoints go to " + folder + ".";
        finding.why = "The last checkpoint is to be a symbolic link, which only a local file system has.";
        finding.source = inCallback("model_checkpoint", "setup");
        finding.engine = "cannot";
        finding.raises =
            "ValueError: `ModelCheckpoint(save_last='link')` is only supported for local file paths";
        finding.fixes = {checkpoint.with("save_last", true, "Write a copy", "It takes twice the place.")};
        context.report(std::move(finding));
    }
}

constexpr std::array kRules = {
    Rule{"checkpoint-top-k-unmonitored", kOfTrainer, {"2.0"}, topKUnmonitored},
    Rule{"checkpoint-disabled", kOfTrainer, {"2.0"}, disabled},
    Rule{"checkpoint-top-k-range", kOfTrainer, {"2.0"}, topKRange},
    Rule{"checkpoint-every-range", kOfTrainer, {"2.0"}, everyRange},
    Rule{"checkpoint-two-moments", kOfTrainer, {"2.0"}, triggers},
    Rule{"checkpoint-mode", kOfTrainer, {"2.0"}, modeUnknown},
    Rule{"checkpoint-metric-missing", kOfTrainer, {"2.0"}, metricMissing},
    Rule{"checkpoint-exception-name", kOfTrainer, {"2.6"}, exceptionFileName},
    Rule{"checkpoint-last-link", kOfTrainer, {"2.2"}, lastLinkRemote},
};

} // namespace

std::span<const Rule> checkpointRules()
{
    return kRules;
}

} // namespace mantissa
