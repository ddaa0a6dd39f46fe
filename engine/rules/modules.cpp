#include "engine/recipe/fields.h"
#include "engine/rules/making.h"
#include "engine/rules/run_reading.h"

#include <algorithm>
#include <array>

namespace mantissa {
namespace {

void trainingStepOutput(RuleContext& context)
{
    const std::string output = context.at(field::trainingStepOutput).asString();
    const bool noLoss = output == "dict-without-loss";
    if ((!noLoss && output != "list" && output != "float") || !startsLoop(context) || !isAutomatic(context))
        return;
    Finding finding = findingAt(Severity::Stops, Stage::Loss, {field::trainingStepOutput.path});
    finding.message = noLoss
        ? "training_step returns a dict without a \"loss\"."
        : "training_step returns a " + output + "; it takes a tensor, a dict with \"loss\", or None.";
    finding.why =
        "In automatic optimization the Trainer calls backward on what training_step returns, so it must find "
        "the loss in it.";
    finding.source = inLightning("src/lightning/pytorch/loops/optimization/automatic.py, "
                                 "ClosureResult.from_training_step_output");
    finding.engine = "same";
    finding.raises = noLoss ? "MisconfigurationException: In automatic_optimization, when `training_step` "
                              "returns a dict, the 'loss' key "
                              "needs to be present"
                            : "MisconfigurationException: In automatic optimization, `training_step` must "
                              "return a Tensor, a dict, or None";
    finding.fixes = {
        manualFix("Return the loss", noLoss ? "return {\"loss\": loss, \"logits\": logits}" : "return loss"),
        changingFix("It returns the loss", {setTo(field::trainingStepOutput.path, "tensor")},
                    "This changes what is known of the module; the module itself must be changed too.")};
    context.report(std::move(finding));
}

void manualStepOutput(RuleContext& context)
{
    const std::string output = context.at(field::trainingStepOutput).asString();
    if ((output != "list" && output != "float") || !startsLoop(context) || isAutomatic(context))
        return;
    Finding finding = findingAt(Severity::Stops, Stage::Loss,
                                {field::trainingStepOutput.path, field::automaticOptimization.path});
    finding.message =
        "training_step returns a " + output + "; in manual optimization it takes a tensor, a dict, or None.";
    finding.why = "Nothing is done with it but handing it to the callbacks, which expect one of these.";
    finding.source = inLightning("src/lightning/pytorch/loops/optimization/manual.py, "
                                 "ManualResult.from_training_step_output");
    finding.engine = "cannot";
    finding.raises =
        "MisconfigurationException: In manual optimization, `training_step` must either return a Tensor or "
        "have no return.";
    finding.fixes = {
        manualFix("Return a dict", "return {\"losses\": losses}"),
        changingFix("It returns nothing", {setTo(field::trainingStepOutput.path, "none")},
                    "This changes what is known of the module; the module itself must be changed too.")};
    context.report(std::move(finding));
}

void skippedStep(RuleContext& context)
{
    if (context.at(field::trainingStepOutput).asString() != "none" || !startsLoop(context)
        || !isAutomatic(context) || processCount(context).value_or(1) <= 1)
        return;
    Finding finding =
        findingAt(Severity::Stops, Stage::Loss, {field::trainingStepOutput.path, field::strategy.path});
    finding.message = "training_step returns None to leave a batch out, and there are several processes.";
    finding.why = "The others would wait for ever for the gradients of a rank that has none.";
    finding.source = inLightning("src/lightning/pytorch/loops/optimization/automatic.py, _training_step");
    finding.engine = "cannot";
    finding.raises =
        "RuntimeError: Skipping the `training_step` by returning None in distributed training is not "
        "supported.";
    finding.fixes = {
        manualFix("Return a loss of zero", "return 0.0 * self(batch).sum()  # every rank then joins in"),
        changingFix("It returns the loss", {setTo(field::trainingStepOutput.path, "tensor")},
                    "This changes what is known of the module; the module itself must be changed too."),
        changingFix("Use one device",
                    {setTo(field::strategy.path, "auto"), setTo(field::devices.path, 1),
                     setTo(field::numNodes.path, 1)})};
    context.report(std::move(finding));
}

/// A hook that is gone, the entry points that look for it, and what replaces it.
struct Removed {
    std::string_view hook;
    std::string_view fn;
    std::string_view alsoFn;
    std::string_view heir;
};
constexpr std::array kRemoved = {
    Removed{"training_epoch_end", "fit", "", "on_train_epoch_end"},
    Removed{"validation_epoch_end", "fit", "validate", "on_validation_epoch_end"},
    Removed{"test_epoch_end", "test", "", "on_test_epoch_end"},
};

void removedHook(RuleContext& context)
{
    const std::string fn = context.at(field::runFn).asString("fit");
    for (const auto& [hook, first, second, heir] : kRemoved) {
        if (!overrides(context, hook) || (fn != first && fn != second))
            continue;
        Finding finding = findingAt(Severity::WontStart, Stage::Setup, {field::overrides.path});
        finding.message = "The module has " + std::string(hook) + ", which is no hook since version 2.0.";
        finding.why =
            "It used to get the outputs of all steps, and kept them in memory for the whole epoch. A module "
            "now keeps what it needs itself.";
        finding.source = inLightning("src/lightning/pytorch/trainer/configuration_validator.py, "
                                     "__verify_train_val_loop_configuration");
        finding.engine = "cannot";
        finding.raises =
            "NotImplementedError: Support for `" + std::string(hook) + "` has been removed in v2.0.0.";
        finding.fixes = {manualFix("Keep the outputs, and use " + std::string(heir),
                                   "def " + std::string(heir)
                                       + "(self):\n    mean = torch.stack(self.outputs).mean()\n"
                                         "    self.outputs.clear()")};
        context.report(std::move(finding));
    }
}

void twoConfigureHooks(RuleContext& context)
{
    if (!overrides(context, "configure_model") || !overrides(context, "configure_sharded_model")
        || !isCalled(context))
        return;
    Finding finding = findingAt(Severity::WontStart, Stage::Setup, {field::overrides.path});
    finding.message = "The module has configure_model and configure_sharded_model.";
    finding.why = "The second is the older name of the first; only one of them may make the layers.";
    finding.source = inLightning("src/lightning/pytorch/trainer/configuration_validator.py, "
                                 "__verify_configure_model_configuration");
    finding.engine = "cannot";
    finding.raises =
        "RuntimeError: Both `Module.configure_model`, and `Module.configure_sharded_model` are overridden.";
    finding.fixes = {
        manualFix("Keep configure_model", "Move what configure_sharded_model does into configure_model.")};
    context.report(std::move(finding));
}

bool calls(const RuleContext& context, std::string_view name)
{
    const auto& made = context.at(field::manualCalls).asList();
    return std::any_of(made.begin(), made.end(), [&](const Value& call) { return call.asString() == name; });
}

void manualBackward(RuleContext& context)
{
    if (!calls(context, "manual_backward") || !startsLoop(context) || !isAutomatic(context))
        return;
    Finding finding = findingAt(Severity::Stops, Stage::Backward,
                                {field::manualCalls.path, field::automaticOptimization.path});
    finding.message = "training_step calls manual_backward, and the module optimizes automatically.";
    finding.why = "The Trainer would call backward a second time, on a graph that is gone.";
    finding.source = inLightning("src/lightning/pytorch/core/module.py, _verify_is_manual_optimization");
    finding.engine = "cannot";
    finding.raises =
        "MisconfigurationException: to use manual_backward, please disable automatic optimization";
    finding.fixes = {
        changingFix("Optimize by hand", {setTo(field::automaticOptimization.path, false)},
                    "In the module: self.automatic_optimization = False. It must then step as well."),
        changingFix("Leave the call out", {unset(field::manualCalls.path)},
                    "training_step returns the loss, and the Trainer calls backward.")};
    context.report(std::move(finding));
}

void closureNotCalled(RuleContext& context)
{
    const bool hook =
        overrides(context, "optimizer_step") && factAt(context, "optimizer_step_skips_closure").asBool();
    const bool optimizer = classOf(context.at("optimizer")) == "IgnoresClosure";
    if ((!hook && !optimizer) || !takesSteps(context) || !isAutomatic(context))
        return;
    Finding finding = findingAt(Severity::Stops, Stage::Optimizer,
                                {hook ? field::overrides.path : field::optimizerClass.path});
    finding.message = std::string(hook ? "The module's optimizer_step" : "The optimizer's step")
        + " does not call the closure that it is given.";
    finding.why =
        "training_step and backward run inside that closure. Without it there is no loss and no gradient.";
    finding.source = inLightning("src/lightning/pytorch/loops/optimization/closure.py, consume_result");
    finding.engine = "cannot";
    finding.raises = "MisconfigurationException: The closure hasn't been executed.";
    finding.fixes = {
        manualFix("Hand the closure on",
                  hook ? "def optimizer_step(self, epoch, batch_idx, optimizer, optimizer_closure):\n"
                         "    optimizer.step(closure=optimizer_closure)"
                       : "def step(self, closure=None):\n    loss = closure() if closure else None\n"
                         "    ...\n    return loss")};
    context.report(std::move(finding));
}

bool findsUnused(const RuleContext& context)
{
    const std::string name = readStrategy(context).name;
    return name.ends_with("find_unused_parameters_true") || context.at(field::ddpFindUnused).asBool()
        || context.at(field::ddpStaticGraph).asBool();
}

/// How often gradients are reduced at most; a large number where that is unknown.
std::int64_t reductions(RuleContext& context)
{
    constexpr std::int64_t kMany = 1000;
    if (classOf(context.at("optimizer")) == "LBFGS")
        return kMany; // Several passes a step.
    const std::int64_t epochs = context.at(field::maxEpochs).asInteger(kMany);
    const std::int64_t window = std::max<std::int64_t>(1, context.at(field::accumulate).asInteger(1));
    const std::int64_t batches = std::min(loaderBatches(context).value_or(kMany),
                                          context.at(field::limitTrainBatches).asInteger(kMany));
    const std::int64_t steps = (epochs < 0 ? kMany : epochs) * ((batches + window - 1) / window);
    const std::int64_t most = context.at(field::maxSteps).asInteger(-1);
    return most < 0 ? steps : std::min(steps, most);
}

/// DDP waits for the gradient of every parameter; the second step finds that some never came.
void unusedParameters(RuleContext& context)
{
    const auto processes = processCount(context);
    if (!context.at(field::unusedParameters).asBool() || readStrategy(context).family != StrategyFamily::Ddp
        || findsUnused(context) || !processes || *processes < 2 || !takesSteps(context)
        || isFastDevRun(context))
        return;
    if (reductions(context) < 2)
        return;
    Finding finding =
        findingAt(Severity::Stops, Stage::Reduce, {field::unusedParameters.path, field::ddpFindUnused.path});
    finding.message =
        "Some parameters get no gradient, and " + readStrategy(context).name + " waits for all of them.";
    finding.why = "DDP reduces a bucket when all its gradients have come. A parameter without one leaves its "
                  "bucket open, "
                  "and the next forward pass finds it so.";
    finding.source = inTorch("torch/nn/parallel/distributed.py, _pre_forward");
    finding.engine = "cannot";
    finding.raises =
        "RuntimeError: It looks like your LightningModule has parameters that were not used in producing "
        "the loss returned by training_step.";
    finding.fixes = {
        safeFix("Let DDP look for them", {setTo(field::strategy.path, "ddp_find_unused_parameters_true")},
                "It walks the graph after each forward pass, which costs some time."),
        manualFix("Freeze them", "for p in self.unused.parameters():\n    p.requires_grad = False"),
        changingFix("Shard with FSDP", {setTo(field::strategy.path, "fsdp")})};
    context.report(std::move(finding));
}

void syncBatchnormOnCpu(RuleContext& context)
{
    if (!context.at(field::syncBatchnorm).asBool() || !context.at(field::hasBatchnorm).asBool()
        || !fits(context) || readStrategy(context).family != StrategyFamily::Ddp
        || readDevice(context) != DeviceKind::Cpu)
        return;
    Finding finding =
        findingAt(Severity::WontStart, Stage::Setup, {field::syncBatchnorm.path, field::accelerator.path});
    finding.message = "sync_batchnorm=true is asked for on a CPU, and the module has batch normalisation.";
    finding.why = "torch's layer that shares its statistics over ranks exists for GPUs alone; DDP refuses it "
                  "elsewhere.";
    finding.source = inTorch("torch/nn/parallel/distributed.py, _passing_sync_batchnorm_handle");
    finding.engine = "cannot";
    finding.raises = "ValueError: SyncBatchNorm layers only work with GPU modules";
    finding.fixes = {changingFix("Statistics of each rank", {unset(field::syncBatchnorm.path)},
                                 "With small batches they are noisier than shared ones."),
                     changingFix("Run on GPUs", {setTo(field::accelerator.path, "gpu")})};
    context.report(std::move(finding));
}

constexpr std::array kRules = {
    Rule{"module-step-output", kOfTrainer, {"2.0"}, trainingStepOutput},
    Rule{"module-manual-output", kOfTrainer, {"2.0"}, manualStepOutput},
    Rule{"module-skipped-step", kOfTrainer, {"2.0"}, skippedStep},
    Rule{"module-removed-hook", kOfTrainer, {"2.0"}, removedHook},
    Rule{"module-two-configure-hooks", kOfTrainer, {"2.0"}, twoConfigureHooks},
    Rule{"module-manual-backward", kOfTrainer, {"2.0"}, manualBackward},
    Rule{"module-closure", kOfTrainer, {"2.0"}, closureNotCalled},
    Rule{"module-unused-parameters", kOfTrainer, {"2.0"}, unusedParameters},
    Rule{"module-sync-batchnorm-cpu", kOfTrainer, {"2.0"}, syncBatchnormOnCpu},
};

} // namespace

std::span<const Rule> moduleRules()
{
    return kRules;
}

} // namespace mantissa
