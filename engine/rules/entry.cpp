#include "engine/recipe/fields.h"
#include "engine/rules/making.h"
#include "engine/rules/run_reading.h"

#include <array>

namespace mantissa {
namespace {

constexpr std::string_view kTrainer = "src/lightning/pytorch/trainer/trainer.py, ";

std::string factPath(std::string_view name)
{
    return "mantissa.facts." + std::string(name);
}

std::string entryPoint(const RuleContext& context)
{
    return context.at(field::runFn).asString("fit");
}

/// Loaders are arguments of the call.
bool passesLoaders(const RuleContext& context)
{
    const Value& given = factAt(context, "run.dataloaders");
    const std::string source = factAt(context, "data.source").asString("argument");
    return given.asString() == "set" || given.asBool() || (source != "module" && source != "datamodule");
}

bool passesDatamodule(const RuleContext& context)
{
    const Value& given = factAt(context, "run.datamodule");
    return given.asString() == "set" || given.asBool()
        || factAt(context, "data.source").asString() == "datamodule";
}

void twoSources(RuleContext& context)
{
    const bool bothMeant =
        factAt(context, "run.dataloaders").isSet() || factAt(context, "run.datamodule").isSet();
    if (!bothMeant || !isCalled(context) || !passesLoaders(context) || !passesDatamodule(context))
        return;
    const std::string fn = entryPoint(context);
    Finding finding = findingAt(Severity::WontStart, Stage::Setup,
                                {factPath("run.datamodule"), factPath("run.dataloaders")});
    finding.message = fn + " is given dataloaders and a datamodule.";
    finding.why = "Both say where the data come from, and neither is taken for the better one.";
    finding.source = inLightning(std::string(kTrainer) + "_" + fn + "_impl");
    finding.engine = "cannot";
    finding.raises = fn == "fit"
        ? "MisconfigurationException: You cannot pass `train_dataloader` or `val_dataloaders` to "
          "`trainer.fit(datamodule=...)`"
        : "MisconfigurationException: You cannot pass both `trainer." + fn
            + "(dataloaders=..., datamodule=...)`";
    finding.fixes = {
        changingFix("Use the loaders",
                    {unset(factPath("run.datamodule")), unset(factPath("run.dataloaders")),
                     setTo(factPath("data.source"), "argument")},
                    "In code: trainer." + fn + "(model, dataloaders) without datamodule."),
        changingFix("Use the datamodule",
                    {unset(factPath("run.datamodule")), unset(factPath("run.dataloaders")),
                     setTo(factPath("data.source"), "datamodule")},
                    "In code: trainer." + fn + "(model, datamodule=datamodule) without loaders.")};
    context.report(std::move(finding));
}

void noModel(RuleContext& context)
{
    const std::string model = factAt(context, "run.model").asString();
    const std::string fn = entryPoint(context);
    const bool attached = fn != "fit" && factAt(context, "run.before_fit").asBool();
    const bool none = model == "none" && !attached;
    if ((!none && model != "plain-module") || !isCalled(context))
        return;
    const std::string got = none ? "NoneType" : "Linear";
    Finding finding =
        findingAt(Severity::WontStart, Stage::Setup, {factPath("run.model"), field::runFn.path});
    finding.message =
        none ? fn + " is called without a model." : fn + " is given a module that is no LightningModule.";
    finding.why = none && fn != "fit"
        ? "Without a model the one of an earlier run is taken, and there was no run before."
        : "The Trainer calls training_step, configure_optimizers and other methods that only a "
          "LightningModule has.";
    finding.source = inLightning(none && fn != "fit"
                                     ? std::string(kTrainer) + fn
                                     : "src/lightning/pytorch/utilities/compile.py, _maybe_unwrap_optimized");
    finding.engine = "cannot";
    finding.raises = none && fn != "fit"
        ? "TypeError: `Trainer." + fn
            + "()` requires a `LightningModule` when it hasn't been passed in a previous run"
        : "TypeError: `model` must be a `LightningModule` or `torch._dynamo.OptimizedModule`, got `" + got
            + "`";
    finding.fixes = {changingFix("Pass the model", {unset(factPath("run.model"))},
                                 "In code: trainer." + fn + "(model), with model a LightningModule.")};
    context.report(std::move(finding));
}

/// The second fit would have to start from what its children have left in their own memory.
void fitTwice(RuleContext& context)
{
    const bool twice = factAt(context, "run.fit_count").asInteger(1) > 1
        || (fits(context) && factAt(context, "run.before_fit").asBool());
    if (!twice || !startsByForkOrSpawn(context))
        return;
    Finding finding =
        findingAt(Severity::Stops, Stage::Setup, {factPath("run.fit_count"), field::strategy.path});
    finding.message = "fit is called twice on one Trainer, and " + readStrategy(context).name
        + " trains in processes that end with each call.";
    finding.why = "The state of the loops stays in the children; the parent knows only the weights that they "
                  "sent back.";
    finding.source = inLightning("src/lightning/pytorch/trainer/call.py, _call_and_handle_interrupt");
    finding.engine = "cannot";
    finding.raises =
        "NotImplementedError: Calling `trainer.fit()` twice on the same Trainer instance using a "
        "spawn-based strategy is not supported.";
    finding.fixes = {changingFix("Start the script for each process", {setTo(field::strategy.path, "ddp")}),
                     manualFix("Make a Trainer for each call",
                               "trainer = Trainer(...)\ntrainer.fit(model, ckpt_path=\"last\")")};
    context.report(std::move(finding));
}

void predictionsOfChildren(RuleContext& context)
{
    const std::string path = factPath("run.return_predictions");
    if (!context.at(path).asBool() || entryPoint(context) != "predict" || !startsByForkOrSpawn(context))
        return;
    Finding finding = findingAt(Severity::WontStart, Stage::Setup, {path, field::strategy.path});
    finding.message = "predict is to return its predictions, and " + readStrategy(context).name
        + " makes them in processes of its own.";
    finding.why =
        "Whatever the children return would have to be copied to the parent, for all samples at once.";
    finding.source = inLightning("src/lightning/pytorch/loops/prediction_loop.py, return_predictions");
    finding.engine = "cannot";
    finding.raises =
        "MisconfigurationException: `return_predictions` should be set to `False` when using the strategies "
        "that spawn or fork.";
    finding.fixes = {changingFix("Do not return them", {setTo(path, false)},
                                 "A BasePredictionWriter can write them to files, one for each process."),
                     changingFix("Start the script for each process", {setTo(field::strategy.path, "ddp")})};
    context.report(std::move(finding));
}

/// Who writes the files of a checkpoint: a strategy that does it by itself, or the plugin.
std::string checkpointWriter(const RuleContext& context)
{
    switch (readStrategy(context).family) {
    case StrategyFamily::Fsdp:
        return "FSDPStrategy";
    case StrategyFamily::ModelParallel:
        return "ModelParallelStrategy";
    case StrategyFamily::DeepSpeed:
        return "DeepSpeedStrategy";
    default:
        break;
    }
    for (const Value& plugin : context.at(field::plugins).asEntries()) {
        if (const std::string name = classOf(plugin);
            name.ends_with("CheckpointIO") && name != "TorchCheckpointIO")
            return {};
    }
    return "TorchCheckpointIO";
}

void storageOptions(RuleContext& context)
{
    const std::string writer = checkpointWriter(context);
    const std::string path = factPath("run.storage_options");
    if (!context.at(path).isSet() || writer.empty() || !isCalled(context))
        return;
    const bool plugin = writer == "TorchCheckpointIO";
    Finding finding = findingAt(Severity::Stops, Stage::Record,
                                {path, plugin ? field::plugins.path : field::strategy.path});
    finding.message = "save_checkpoint is given storage_options, which " + writer + " does not understand.";
    finding.why = "The options are for a CheckpointIO of your own, which is told where and how to store.";
    finding.source = inLightning(plugin ? "src/lightning/fabric/plugins/io/torch_io.py, save_checkpoint"
                                        : "src/lightning/pytorch/strategies, save_checkpoint");
    finding.engine = "cannot";
    finding.raises = plugin
        ? "TypeError: `Trainer.save_checkpoint(..., storage_options=...)` with `storage_options` arg is "
          "not supported for `TorchCheckpointIO`."
        : "TypeError: `" + writer + ".save_checkpoint(..., storage_options=...)` is not supported";
    finding.fixes = {
        changingFix("Leave the options out", {unset(path)}, "In code: trainer.save_checkpoint(path).")};
    if (plugin)
        finding.fixes.push_back(
            manualFix("Write a CheckpointIO",
                      "class MyIO(TorchCheckpointIO):\n"
                      "    def save_checkpoint(self, checkpoint, path, storage_options=None): ..."));
    context.report(std::move(finding));
}

constexpr std::array kRules = {
    Rule{"run-two-sources", kOfTrainer, {"2.0"}, twoSources},
    Rule{"run-no-model", kOfTrainer, {"2.0"}, noModel},
    Rule{"run-fit-twice", kOfTrainer, {"2.0"}, fitTwice},
    Rule{"run-return-predictions", kOfTrainer, {"2.0"}, predictionsOfChildren},
    Rule{"run-storage-options", kOfTrainer, {"2.0"}, storageOptions},
};

} // namespace

std::span<const Rule> entryRules()
{
    return kRules;
}

} // namespace mantissa
