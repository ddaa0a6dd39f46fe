#include "engine/recipe/fields.h"
#include "engine/rules/making.h"
#include "engine/rules/run_reading.h"

#include <algorithm>
#include <array>

namespace mantissa {
namespace {

constexpr std::string_view kConnector =
    "src/lightning/pytorch/trainer/connectors/accelerator_connector.py, _check_config_and_set_final_flags";

/// The class of a plugin, without the precision that knobs write behind it.
std::string pluginName(const Value& plugin)
{
    const std::string name = classOf(plugin);
    return name.substr(0, name.find('('));
}

/// What a plugin is for, by the ending of its class; empty for a class of somebody's own.
std::string_view kindOf(std::string_view name)
{
    if (name.ends_with("Precision"))
        return "Precision";
    if (name.ends_with("CheckpointIO"))
        return "CheckpointIO";
    if (name.ends_with("Environment"))
        return "ClusterEnvironment";
    return name.ends_with("Sync") || name.ends_with("BatchNorm") ? "LayerSync" : "";
}

void twoOfAKind(RuleContext& context)
{
    const auto plugins = context.at(field::plugins).asEntries();
    for (std::size_t second = 1; second < plugins.size(); ++second) {
        const std::string name = pluginName(plugins[second]);
        const auto kind = kindOf(name);
        const auto first =
            std::find_if(plugins.begin(), plugins.begin() + static_cast<std::ptrdiff_t>(second),
                         [&](const Value& other) { return kindOf(pluginName(other)) == kind; });
        if (kind.empty() || first == plugins.begin() + static_cast<std::ptrdiff_t>(second))
            continue;
        const std::string path = std::string(field::plugins.path) + "[" + std::to_string(second) + "]";
        Finding finding = findingAt(Severity::WontStart, Stage::Configure, {path, field::plugins.path});
        finding.message =
            "plugins has " + pluginName(*first) + " and " + name + ", which are for the same thing.";
        finding.why =
            "There is one place for each kind: precision, files, cluster, layers that wait for each other.";
        finding.source = inLightning(std::string(kConnector));
        finding.engine = "same";
        finding.raises = "MisconfigurationException: Received multiple values for "
            + std::string(kind == "LayerSync" ? std::string_view(name) : kind)
            + " flags in `plugins`. Expected one value for each type at most.";
        finding.fixes = {
            changingFix("Keep " + pluginName(*first) + ", the first", {{EditOp::Remove, path, {}}})};
        context.report(std::move(finding));
        return;
    }
}

void noPlugin(RuleContext& context)
{
    for (const Value& plugin : context.at(field::plugins).asEntries()) {
        const bool isClass = (plugin.isString() || plugin.isMap()) && pluginName(plugin) != "object"
            && !pluginName(plugin).empty();
        if (isClass || !plugin.isSet())
            continue;
        Finding finding = findingAt(Severity::WontStart, Stage::Configure, {field::plugins.path});
        finding.message =
            "plugins has " + (plugin.isMap() ? pluginName(plugin) : plugin.text()) + ", which is no plugin.";
        finding.why = "A plugin is a precision, a CheckpointIO, a cluster environment or a LayerSync.";
        finding.source = inLightning(std::string(kConnector));
        finding.engine = "same";
        finding.raises = "MisconfigurationException: Found invalid type for plugin";
        finding.fixes = {changingFix("Go without plugins", {unset(field::plugins.path)})};
        context.report(std::move(finding));
        return;
    }
}

void precisionTwice(RuleContext& context)
{
    const Value& flag = context.at(field::precision);
    const PrecisionReading precision = readPrecision(context);
    if (!flag.isSet() || !precision.fromPlugin || !precision.path.starts_with(field::plugins.path))
        return;
    Finding finding =
        findingAt(Severity::WontStart, Stage::Configure, {field::precision.path, precision.path});
    finding.message =
        "precision=" + flag.text() + " is set, and plugins has a " + precision.plugin + " as well.";
    finding.why = "The plugin has a precision of its own. The target does not choose, even where both agree.";
    finding.source = inLightning(std::string(kConnector));
    finding.engine = "same";
    finding.raises = "ValueError: Received both `precision=" + longPrecision(flag) + "` and `plugins=<"
        + precision.plugin + ">`. Choose one.";
    const Edit drop = context.at(field::plugins).isList() ? removeEntry(field::plugins.path, precision.plugin)
                                                          : unset(field::plugins.path);
    Fix keepPlugin = changingFix("Keep the plugin", {unset(field::precision.path)});
    Fix keepFlag = changingFix("Keep precision=" + flag.text(), {drop});
    if (precision.asked == longPrecision(flag) && precision.scalerPath.empty())
        keepPlugin.grade = keepFlag.grade = FixGrade::Safe;
    finding.fixes = {std::move(keepPlugin), std::move(keepFlag)};
    context.report(std::move(finding));
}

void layerSyncTwice(RuleContext& context)
{
    if (!context.at(field::syncBatchnorm).asBool())
        return;
    for (const Value& plugin : context.at(field::plugins).asEntries()) {
        const std::string name = pluginName(plugin);
        if (kindOf(name) != "LayerSync" || name == "TorchSyncBatchNorm")
            continue;
        Finding finding = findingAt(Severity::WontStart, Stage::Configure,
                                    {field::syncBatchnorm.path, field::plugins.path});
        finding.message = "sync_batchnorm=true is set, and plugins has " + name + " as well.";
        finding.why = "The flag means TorchSyncBatchNorm; both would rewrite the same layers.";
        finding.source = inLightning(std::string(kConnector));
        finding.engine = "cannot";
        finding.raises = "MisconfigurationException: You set `Trainer(sync_batchnorm=True)` and provided a `"
            + name + "` plugin, but this is not allowed. Choose one or the other.";
        finding.fixes = {changingFix("Keep the plugin", {unset(field::syncBatchnorm.path)}),
                         changingFix("Keep the flag", {removeEntry(field::plugins.path, name)})};
        context.report(std::move(finding));
    }
}

void mixedPluginValue(RuleContext& context)
{
    const PrecisionReading precision = readPrecision(context);
    if (!precision.fromPlugin || precision.plugin != "MixedPrecision" || precision.asked.empty()
        || precision.asked == "16-mixed" || precision.asked == "bf16-mixed")
        return;
    Finding finding = findingAt(Severity::WontStart, Stage::Configure, {precision.settingPath});
    finding.message = "MixedPrecision is given " + precision.asked + "; it takes 16-mixed or bf16-mixed.";
    finding.why = "The class is autocast and a loss scaler; other precisions have classes of their own.";
    finding.source = inLightning("src/lightning/pytorch/plugins/precision/amp.py, MixedPrecision.__init__");
    finding.engine = "same";
    finding.raises = "ValueError: `Passed `MixedPrecision(precision='" + precision.asked
        + "')`. Precision must be '16-mixed' or 'bf16-mixed'.";
    finding.fixes = {changingFix("Mixed precision in bfloat16", {setTo(precision.settingPath, "bf16-mixed")}),
                     changingFix("Mixed precision in float16", {setTo(precision.settingPath, "16-mixed")})};
    context.report(std::move(finding));
}

/// A package that a precision or a cluster's class is built on.
struct Needed {
    std::string_view plugin;
    std::string_view package; ///< As its distribution is listed.
    std::string_view raises;
    std::string_view source;
};
constexpr std::array kNeeded = {
    Needed{"TransformerEnginePrecision", "transformer_engine",
           "ModuleNotFoundError: Requirement 'transformer_engine>=0.11.0' not met.",
           "src/lightning/fabric/plugins/precision/transformer_engine.py, __init__"},
    Needed{"BitsandbytesPrecision", "bitsandbytes",
           "ModuleNotFoundError: Requirement 'bitsandbytes' not met.",
           "src/lightning/fabric/plugins/precision/bitsandbytes.py, _import_bitsandbytes"},
    Needed{"MPIEnvironment", "mpi4py", "ModuleNotFoundError: Requirement 'mpi4py' not met.",
           "src/lightning/fabric/plugins/environments/mpi.py, MPIEnvironment.__init__"},
    Needed{"XLAPrecision", "torch_xla", "ModuleNotFoundError: Requirement 'torch_xla>=1.13' not met.",
           "src/lightning/fabric/plugins/precision/xla.py, XLAPrecision.__init__"},
};

void reportMissing(RuleContext& context, const Needed& needed, const std::string& asked, std::string path,
                   Fix without)
{
    if (hasPackage(context, needed.package))
        return;
    Finding finding = findingAt(Severity::WontStart, Stage::Configure, {path, field::envPackages.path});
    finding.message =
        asked + " needs the package " + std::string(needed.package) + ", and the target does not have it.";
    finding.why = "The package is optional; the class imports it when it is made.";
    finding.source = inLightning(std::string(needed.source));
    finding.engine = "cannot";
    finding.raises = needed.raises;
    finding.fixes = {std::move(without),
                     manualFix("Install it on the target", "pip install " + std::string(needed.package))};
    context.report(std::move(finding));
}

void packageMissing(RuleContext& context)
{
    for (const Value& plugin : context.at(field::plugins).asEntries()) {
        const std::string name = pluginName(plugin);
        const auto needed = std::find_if(kNeeded.begin(), kNeeded.end(),
                                         [&](const Needed& entry) { return entry.plugin == name; });
        if (needed == kNeeded.end())
            continue;
        reportMissing(context, *needed, name, std::string(field::plugins.path) + "[" + name + "]",
                      changingFix("Go without " + name, {removeEntry(field::plugins.path, name)}));
    }
    const std::string precision = longPrecision(context.at(field::precision));
    if (precision == "transformer-engine" || precision == "transformer-engine-float16")
        reportMissing(
            context, kNeeded.front(), "precision=" + precision, std::string(field::precision.path),
            changingFix("Mixed precision in bfloat16", {setTo(field::precision.path, "bf16-mixed")}));
}

constexpr std::array kRules = {
    Rule{"plugins-two-of-a-kind", kOfLightning, {"2.0"}, twoOfAKind},
    Rule{"plugins-no-plugin", kOfLightning, {"2.0"}, noPlugin},
    Rule{"plugins-and-precision", kOfLightning, {"2.0"}, precisionTwice},
    Rule{"plugins-and-sync-batchnorm", kOfTrainer, {"2.0"}, layerSyncTwice},
    Rule{"plugins-mixed-value", kOfLightning, {"2.0"}, mixedPluginValue},
    Rule{"plugins-package-missing", kOfLightning, {"2.0"}, packageMissing},
};

} // namespace

std::span<const Rule> pluginRules()
{
    return kRules;
}

} // namespace mantissa
