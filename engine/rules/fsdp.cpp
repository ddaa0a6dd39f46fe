#include "engine/recipe/asked.h"
#include "engine/recipe/class_object.h"
#include "engine/recipe/fields.h"
#include "engine/recipe/known_keys.h"
#include "engine/rules/making.h"
#include "engine/rules/reading.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace mantissa {
namespace {

void fsdpPrecision(RuleContext& context)
{
    const PrecisionReading precision = readPrecision(context);
    if (precision.plugin != "FSDPPrecision")
        return;
    if (precision.asked != "64-true" && !precision.asked.starts_with("transformer-engine"))
        return;
    const std::string path = precision.settingPath;
    Finding finding = findingAt(Severity::WontStart, Stage::Configure, {path, field::strategy.path});
    finding.message = "FSDP has no precision " + precision.asked
        + ": it takes 32-true, 16-true, bf16-true, 16-mixed or bf16-mixed.";
    finding.why = "Under FSDP a precision is a table of three dtypes (parameters, reduction, buffers); "
                  "there is such a table for five precisions only.";
    finding.source = inLightning("src/lightning/fabric/plugins/precision/fsdp.py, FSDPPrecision.__init__");
    finding.engine =
        precision.asked == "64-true" ? "better: shards weights and states in fp64 too" : "cannot";
    finding.raises = "ValueError: `precision='" + precision.asked
        + "')` is not supported in FSDP. `precision` must be "
          "one of: ('32-true', '16-true', 'bf16-true', '16-mixed', 'bf16-mixed').";
    finding.fixes = {changingFix("Full precision in float32", {setTo(path, "32-true")}),
                     changingFix("Mixed precision in bfloat16", {setTo(path, "bf16-mixed")})};
    if (!precision.fromPlugin)
        finding.fixes.push_back(
            changingFix("Keep " + precision.asked + " and replicate instead of sharding",
                        {setTo(field::strategy.path, "ddp")},
                        "Every rank then holds the whole model and the whole optimizer state."));
    context.report(std::move(finding));
}

void fsdpPrecisionPlugin(RuleContext& context)
{
    if (readStrategy(context).family != StrategyFamily::Fsdp)
        return;
    const PrecisionReading precision = readPrecision(context);
    if (!precision.fromPlugin || precision.plugin == "FSDPPrecision")
        return;
    const bool inList = precision.path.starts_with(field::plugins.path);
    Finding finding =
        findingAt(Severity::WontStart, Stage::Configure, {precision.path, field::strategy.path});
    finding.message =
        "FSDP works with FSDPPrecision alone, and the set-up gives it " + precision.plugin + ".";
    finding.why =
        "The sharded wrapper casts parameters, gradients and buffers itself, as its own precision class "
        "tells it; another class knows nothing of shards.";
    finding.source = inLightning("src/lightning/pytorch/strategies/fsdp.py, FSDPStrategy.precision_plugin");
    finding.engine = "cannot";
    finding.raises = "TypeError: The FSDP strategy can only work with the `FSDPPrecision` plugin, found ...";
    const Edit drop = inList && context.at(field::plugins).isList()
        ? removeEntry(field::plugins.path, precision.plugin)
        : unset(precision.path);
    finding.fixes = {changingFix("Say the precision by trainer.precision",
                                 {drop, setTo(field::precision.path, precision.asked)})};
    finding.fixes.push_back(
        changingFix("Replicate instead of sharding", {setTo(field::strategy.path, "ddp")},
                    "Every rank then holds the whole model and the whole optimizer state."));
    context.report(std::move(finding));
}

void fsdpAccumulationReduces(RuleContext& context)
{
    const std::int64_t window = context.at(field::accumulate).asInteger(1);
    if (readStrategy(context).family != StrategyFamily::Fsdp || window <= 1 || !takesSteps(context))
        return;
    Finding finding =
        findingAt(Severity::Wasteful, Stage::Reduce, {field::accumulate.path, field::strategy.path});
    finding.message = "Gradients are reduced after each of the " + std::to_string(window)
        + " micro batches of a window; once would do.";
    finding.why =
        "Only DDP is told to keep gradients local inside a window. FSDP reduces every time, which costs "
        "traffic and saves the memory of unsharded gradients.";
    finding.source = inLightning("src/lightning/pytorch/strategies/parallel.py, block_backward_sync");
    finding.engine = "better: reduces once a window";
    finding.fixes = {
        manualFix("Accept it, or make the micro batch larger",
                  "A larger data batch with a smaller window costs less traffic for the same update.")};
    context.report(std::move(finding));
}

Fix writtenAsLightningKnowsIt(const RuleContext& context)
{
    const ValueMap arguments = {{"data_parallel_size", std::int64_t{ranksHere(context.setup())}},
                                {"tensor_parallel_size", std::int64_t{1}}};
    return safeFix("Write it as ModelParallelStrategy",
                   {setTo(field::strategy.path,
                          ValueMap{{"class_path", "lightning.pytorch.strategies.ModelParallelStrategy"},
                                   {"init_args", arguments}})},
                   "The module has to call fully_shard on its blocks in configure_model.");
}

/// A name that only this engine knows.
void ownStrategy(RuleContext& context)
{
    const std::string name = context.at(field::strategy).asString();
    const bool zero1 = strategyKind(context.at(field::strategy)) == "zero1";
    if (!zero1 && name != "fsdp2")
        return;
    Finding finding = findingAt(Severity::WontStart, Stage::Configure, {field::strategy.path});
    finding.message = "strategy=" + readStrategy(context).name + " is a name of this engine: "
        + (zero1 ? "ZeRO stage 1, whole weights and a split optimizer state." : "FSDP in its newer form.");
    finding.why = zero1
        ? "The target looks a strategy up by its name and has none of that name; DeepSpeed's stage 1 "
          "is the nearest, and brings an engine of its own."
        : "The target looks a strategy up by its name and has none of that name; it knows the newer "
          "form as an object of ModelParallelStrategy.";
    finding.source = inLightning("src/lightning/pytorch/trainer/connectors/accelerator_connector.py, "
                                 "_check_config_and_set_final_flags");
    finding.engine = "better: trains it";
    finding.raises = "ValueError: You selected an invalid strategy name: `strategy='" + name + "'`.";
    if (!zero1)
        finding.fixes.push_back(writtenAsLightningKnowsIt(context));
    else
        finding.fixes.push_back(
            changingFix("Keep the whole optimizer state on every rank", {setTo(field::strategy.path, "ddp")},
                        "The numbers are those of zero1; each rank needs the memory of the whole state."));
    finding.fixes.push_back(changingFix("Train with this engine", {setTo(field::target.path, "mantissa")}));
    context.report(std::move(finding));
}

/// Names of the ecosystem beside those that this engine has a counterpart for.
bool isRegistered(const std::string& name, Framework framework)
{
    constexpr std::array<std::string_view, 14> kOthers = {"auto",
                                                          "dp",
                                                          "ddp_spawn_find_unused_parameters_true",
                                                          "ddp_spawn_find_unused_parameters_false",
                                                          "ddp_fork_find_unused_parameters_true",
                                                          "ddp_fork_find_unused_parameters_false",
                                                          "ddp_notebook_find_unused_parameters_true",
                                                          "ddp_notebook_find_unused_parameters_false",
                                                          "deepspeed_stage_1_offload",
                                                          "deepspeed_stage_3_offload",
                                                          "deepspeed_stage_3_offload_nvme",
                                                          "single_xla",
                                                          "single_tpu",
                                                          "xla_debug"};
    const bool ofFabric = name == "dp" || name == "deepspeed_stage_1_offload";
    if (ofFabric && framework == Framework::Trainer)
        return false;
    return strategyAlias(name) || std::find(kOthers.begin(), kOthers.end(), name) != kOthers.end();
}

/// An object, or what flat knobs make into one.
bool isObject(const RuleContext& context, const Value& strategy)
{
    const std::string name = strategy.asString();
    const auto& knobs = context.setup().at("mantissa.knobs").asMap();
    return strategy.isMap() || name.find('.') != std::string::npos || name.ends_with("Strategy")
        || std::any_of(knobs.begin(), knobs.end(),
                       [](const auto& knob) { return knob.first.starts_with("strategy."); });
}

void strategyUnknown(RuleContext& context)
{
    const Value& strategy = context.at(field::strategy);
    if (!strategy.isSet() || isObject(context, strategy))
        return;
    std::string name = strategy.asString(strategy.text());
    std::transform(name.begin(), name.end(), name.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    if (strategy.isString() && isRegistered(name, context.target().framework))
        return;
    std::vector<std::string_view> names = {"auto"};
    for (const auto& alias : strategyAliases())
        names.push_back(alias.name);
    const auto near = nearestName(name, names);
    Finding finding = findingAt(Severity::WontStart, Stage::Configure, {field::strategy.path});
    finding.message = "There is no strategy \"" + strategy.asString(strategy.text()) + "\".";
    finding.why = "The target looks a strategy up by its name, and none of this name is registered.";
    finding.source = inLightning("src/lightning/pytorch/trainer/connectors/accelerator_connector.py, "
                                 "_check_config_and_set_final_flags");
    finding.engine = "cannot";
    finding.raises = "ValueError: You selected an invalid strategy name: `strategy='"
        + strategy.asString(strategy.text()) + "'`.";
    if (!near.empty())
        finding.fixes.push_back(
            changingFix("Write " + std::string(near), {setTo(field::strategy.path, near)}));
    finding.fixes.push_back(changingFix("Let the target choose", {setTo(field::strategy.path, "auto")},
                                        "One device trains alone, several replicate the model as ddp does."));
    context.report(std::move(finding));
}

constexpr std::array kRules = {
    Rule{"fsdp-precision", kOfLightning, {"2.1"}, fsdpPrecision},
    Rule{"fsdp-precision-plugin", kOfLightning, {"2.1"}, fsdpPrecisionPlugin},
    Rule{"own-strategy", kOfLightning, {"2.0"}, ownStrategy},
    Rule{"strategy-unknown", kOfLightning, {"2.0"}, strategyUnknown},
    Rule{"fsdp-accumulation-reduces", kOfTrainer, {"2.0"}, fsdpAccumulationReduces},
};

} // namespace

std::span<const Rule> fsdpRules()
{
    return kRules;
}

} // namespace mantissa
