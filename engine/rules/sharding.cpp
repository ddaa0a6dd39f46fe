#include "engine/recipe/fields.h"
#include "engine/rules/making.h"
#include "engine/rules/run_reading.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace mantissa {
namespace {

constexpr std::string_view kFabricFsdp = "src/lightning/fabric/strategies/fsdp.py, ";

bool isFsdp(const RuleContext& context)
{
    return readStrategy(context).family == StrategyFamily::Fsdp;
}

std::string shardingName(const RuleContext& context)
{
    std::string name = context.at(field::fsdpShardingStrategy).asString();
    std::transform(name.begin(), name.end(), name.begin(),
                   [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    return name;
}

void hybridNeedsMore(RuleContext& context)
{
    const std::string sharding = shardingName(context);
    if (!isFsdp(context) || (sharding != "HYBRID_SHARD" && sharding != "_HYBRID_SHARD_ZERO2")
        || context.at(field::fsdpAutoWrapPolicy).isSet() || context.at(field::fsdpProcessGroup).isSet()
        || context.at(field::fsdpDeviceMesh).isSet())
        return;
    Finding finding = findingAt(Severity::WontStart, Stage::Configure, {field::fsdpShardingStrategy.path});
    finding.message = "sharding_strategy=" + sharding
        + " comes without auto_wrap_policy, process_group and device_mesh; it needs one of them.";
    finding.why =
        "Weights are sharded within a machine and replicated across machines. The groups for both are given, "
        "or made together with the policy that cuts the model into units.";
    finding.source = inLightning(std::string(kFabricFsdp) + "_init_sharding_strategy");
    finding.engine = "better: replicas are a setting of their own, mantissa.sharding.mesh";
    finding.raises =
        "RuntimeError: The hybrid sharding strategy requires you to pass at least one of the parameters: "
        "`auto_wrap_policy`, `process_group` tuple, or `device_mesh`.";
    finding.fixes = {
        changingFix("Shard over all ranks", {setTo(field::fsdpShardingStrategy.path, "FULL_SHARD")}),
        manualFix("Cut the model into units",
                  "FSDPStrategy(sharding_strategy=\"HYBRID_SHARD\", auto_wrap_policy={YourBlock})")};
    context.report(std::move(finding));
}

void groupAndMesh(RuleContext& context)
{
    if (!isFsdp(context) || !context.at(field::fsdpProcessGroup).isSet()
        || !context.at(field::fsdpDeviceMesh).isSet())
        return;
    Finding finding = findingAt(Severity::WontStart, Stage::Configure,
                                {field::fsdpProcessGroup.path, field::fsdpDeviceMesh.path});
    finding.message = "FSDP is given a process_group and a device_mesh.";
    finding.why = "Both say which ranks share the weights; a mesh holds groups of its own.";
    finding.source = inLightning(std::string(kFabricFsdp) + "_init_sharding_strategy");
    finding.engine = "cannot";
    finding.raises = "ValueError: The arguments `FSDPStrategy(process_group=..., device_mesh=...)` are "
                     "mutually exclusive.";
    finding.fixes = {changingFix("Keep the mesh", {unset(field::fsdpProcessGroup.path)}),
                     changingFix("Keep the group", {unset(field::fsdpDeviceMesh.path)})};
    context.report(std::move(finding));
}

void shardingUnknown(RuleContext& context)
{
    const std::string sharding = shardingName(context);
    constexpr std::array<std::string_view, 5> kNames = {"FULL_SHARD", "SHARD_GRAD_OP", "NO_SHARD",
                                                        "HYBRID_SHARD", "_HYBRID_SHARD_ZERO2"};
    if (!isFsdp(context) || sharding.empty()
        || std::find(kNames.begin(), kNames.end(), sharding) != kNames.end())
        return;
    Finding finding = findingAt(Severity::WontStart, Stage::Configure, {field::fsdpShardingStrategy.path});
    finding.message =
        "FSDP has no sharding_strategy \"" + context.at(field::fsdpShardingStrategy).asString() + "\".";
    finding.why = "The text, in capitals, is looked up among the members of torch's ShardingStrategy.";
    finding.source = inLightning(std::string(kFabricFsdp) + "_init_sharding_strategy");
    finding.engine = "same";
    finding.raises = "KeyError: '" + sharding + "'";
    finding.fixes = {changingFix("Shard weights, gradients and states",
                                 {setTo(field::fsdpShardingStrategy.path, "FULL_SHARD")}),
                     changingFix("Keep whole weights during a step",
                                 {setTo(field::fsdpShardingStrategy.path, "SHARD_GRAD_OP")})};
    context.report(std::move(finding));
}

void checkpointingTwice(RuleContext& context)
{
    if (!isFsdp(context) || !context.at(field::fsdpActivationCheckpointing).isSet()
        || !context.at(field::fsdpActivationCheckpointingPolicy).isSet())
        return;
    Finding finding =
        findingAt(Severity::WontStart, Stage::Configure,
                  {field::fsdpActivationCheckpointing.path, field::fsdpActivationCheckpointingPolicy.path});
    finding.message = "FSDP is given activation_checkpointing and activation_checkpointing_policy.";
    finding.why =
        "The first is the older name of the second; both say which layers are computed again in backward.";
    finding.source = inLightning(std::string(kFabricFsdp) + "_activation_checkpointing_kwargs");
    finding.engine = "same";
    finding.raises =
        "ValueError: You cannot set both `activation_checkpointing` and `activation_checkpointing_policy`.";
    finding.fixes = {
        changingFix("Keep the policy", {unset(field::fsdpActivationCheckpointing.path)}),
        changingFix("Keep the list of layers", {unset(field::fsdpActivationCheckpointingPolicy.path)})};
    context.report(std::move(finding));
}

/// The Trainer calls training_step through the root's forward, so the module's own backward runs inside it.
void manualInOneUnit(RuleContext& context)
{
    if (!isFsdp(context) || context.at(field::fsdpAutoWrapPolicy).isSet() || !startsLoop(context)
        || overrides(context, "configure_model") || isAutomatic(context))
        return;
    Finding finding = findingAt(Severity::Stops, Stage::Backward,
                                {field::fsdpAutoWrapPolicy.path, field::automaticOptimization.path});
    finding.message = "The module calls backward by hand, and FSDP holds it in a single unit.";
    finding.why =
        "training_step runs within the forward pass of the outermost unit. With one unit its own weights "
        "are to be reduced by a backward pass while that forward pass has not ended.";
    finding.source = inTorch("torch/distributed/fsdp/_runtime_utils.py, _post_backward_hook");
    finding.engine = "better: its own model of several optimizers shards in any units";
    finding.raises = "AssertionError: Expects `BACKWARD_PRE` or `BACKWARD_POST` state but got "
                     "HandleTrainingState.FORWARD";
    finding.fixes = {
        manualFix("Cut the model into units",
                  "FSDPStrategy(auto_wrap_policy={YourBlock}), so that every layer with weights is in one"),
        changingFix("Replicate with DDP", {setTo(field::strategy.path, "ddp")},
                    "Every rank then holds the whole model and the whole optimizer state.")};
    addAutomatic(context, finding);
    context.report(std::move(finding));
}

bool isModelParallel(const RuleContext& context)
{
    return readStrategy(context).family == StrategyFamily::ModelParallel;
}

void modelParallelPrecision(RuleContext& context)
{
    const std::string precision = longPrecision(context.at(field::precision));
    constexpr std::array<std::string_view, 4> kRefused = {"16-mixed", "64-true", "transformer-engine",
                                                          "transformer-engine-float16"};
    if (!isModelParallel(context) || std::find(kRefused.begin(), kRefused.end(), precision) == kRefused.end())
        return;
    Finding finding =
        findingAt(Severity::WontStart, Stage::Configure, {field::precision.path, field::strategy.path});
    finding.message = "ModelParallelStrategy has no precision " + precision
        + ": it takes 32-true, bf16-mixed, bf16-true or 16-true.";
    finding.why = precision == "16-mixed" ? "float16 needs a loss scale, and its scaler has not been taught "
                                            "to work with the strategy's tensors."
                                          : "The module shards itself with torch's newer interface, and the "
                                            "other precisions wrap modules in their own way.";
    finding.source = inLightning("src/lightning/pytorch/trainer/connectors/accelerator_connector.py, "
                                 "_validate_precision_choice");
    finding.engine = precision.starts_with("transformer") ? "cannot" : "better: shards in this precision too";
    finding.raises = "ValueError: The `ModelParallelStrategy` does not support `Fabric(..., precision='"
        + precision + "')`.";
    finding.fixes = {changingFix("Mixed precision in bfloat16", {setTo(field::precision.path, "bf16-mixed")}),
                     changingFix("Full precision", {setTo(field::precision.path, "32-true")})};
    context.report(std::move(finding));
}

void modelParallelSizes(RuleContext& context)
{
    const Value& data = context.at(field::modelParallelData);
    const Value& tensor = context.at(field::modelParallelTensor);
    if (!isModelParallel(context) || !data.isInteger() || !tensor.isInteger() || !isCalled(context))
        return;
    const auto processes = processCount(context);
    if (!processes || data.asInteger() * tensor.asInteger() == *processes)
        return;
    Finding finding = findingAt(Severity::WontStart, Stage::Setup,
                                {field::modelParallelData.path, field::modelParallelTensor.path});
    finding.message = "data_parallel_size=" + data.text() + " times tensor_parallel_size=" + tensor.text()
        + " is " + std::to_string(data.asInteger() * tensor.asInteger()) + ", and there are "
        + std::to_string(*processes) + " processes.";
    finding.why = "Each process has one place in the mesh, and each place one process.";
    finding.source = inLightning("src/lightning/fabric/strategies/model_parallel.py, _setup_device_mesh");
    finding.engine = "same";
    finding.raises = "RuntimeError: The sizes `data_parallel_size=" + data.text()
        + "` and `tensor_parallel_size=" + tensor.text() + "` multiplied should equal the world size ("
        + std::to_string(*processes) + ").";
    finding.fixes = {changingFix("All processes share the data",
                                 {setTo(field::modelParallelData.path, Value(*processes)),
                                  setTo(field::modelParallelTensor.path, 1)}),
                     changingFix("Sizes from the machines",
                                 {setTo(field::modelParallelData.path, "auto"),
                                  setTo(field::modelParallelTensor.path, "auto")},
                                 "Tensors are then split within a machine, data across machines.")};
    context.report(std::move(finding));
}

Fix withFsdp()
{
    return changingFix("Shard with FSDP, which wraps by itself", {setTo(field::strategy.path, "fsdp")});
}

void modelParallelHook(RuleContext& context)
{
    if (!isModelParallel(context) || !isCalled(context) || overrides(context, "configure_model"))
        return;
    if (!context.at(field::overrides).isList()) {
        context.assume(field::overrides.path, "The module overrides the hooks that its strategy needs.");
        return;
    }
    Finding finding =
        findingAt(Severity::WontStart, Stage::Setup, {field::overrides.path, field::strategy.path});
    finding.message = "ModelParallelStrategy is used, and the module has no configure_model.";
    finding.why =
        "The strategy only makes the mesh of devices. Cutting the model is the module's work, in that hook.";
    finding.source =
        inLightning("src/lightning/pytorch/strategies/model_parallel.py, ModelParallelStrategy.setup");
    finding.engine = "better: shards the models that it knows by itself";
    finding.raises = "TypeError: When using the ModelParallelStrategy, you are required to override the "
                     "`configure_model()` hook in the LightningModule and apply parallelization there.";
    finding.fixes = {manualFix("Write the hook",
                               "def configure_model(self):\n"
                               "    mesh = self.device_mesh[\"data_parallel\"]\n"
                               "    for block in self.blocks:\n"
                               "        fully_shard(block, mesh=mesh)\n"
                               "    fully_shard(self, mesh=mesh)"),
                     withFsdp()};
    context.report(std::move(finding));
}

void modelParallelOldUnits(RuleContext& context)
{
    if (!isModelParallel(context) || !isCalled(context)
        || !context.fact(field::wrapsFsdp.path, false, "The module does not wrap its own layers in FSDP."))
        return;
    Finding finding =
        findingAt(Severity::WontStart, Stage::Setup, {field::wrapsFsdp.path, field::strategy.path});
    finding.message =
        "The module wraps layers in FullyShardedDataParallel, and ModelParallelStrategy takes the newer "
        "fully_shard alone.";
    finding.why = "The two forms of FSDP keep weights in different ways and cannot hold one model together.";
    finding.source =
        inLightning("src/lightning/pytorch/strategies/model_parallel.py, ModelParallelStrategy.setup");
    finding.engine = "cannot";
    finding.raises = "TypeError: Found modules that are wrapped with "
                     "`torch.distributed.fsdp.FullyShardedDataParallel`.";
    finding.fixes = {
        manualFix("Call fully_shard instead",
                  "from torch.distributed.fsdp import fully_shard\n"
                  "fully_shard(layer, mesh=self.device_mesh[\"data_parallel\"])"),
        changingFix("Keep the wrappers, under FSDPStrategy", {setTo(field::strategy.path, "fsdp")})};
    context.report(std::move(finding));
}

constexpr std::array kRules = {
    Rule{"fsdp-hybrid-groups", kOfLightning, {"2.1"}, hybridNeedsMore},
    Rule{"fsdp-group-and-mesh", kOfLightning, {"2.3"}, groupAndMesh},
    Rule{"fsdp-sharding-unknown", kOfLightning, {"2.1"}, shardingUnknown},
    Rule{"fsdp-recompute-twice", kOfLightning, {"2.1"}, checkpointingTwice},
    Rule{"fsdp-manual-one-unit", kOfTrainer, {"2.0"}, manualInOneUnit},
    Rule{"model-parallel-precision", kOfLightning, {"2.4"}, modelParallelPrecision},
    Rule{"model-parallel-sizes", kOfLightning, {"2.4"}, modelParallelSizes},
    Rule{"model-parallel-hook", kOfTrainer, {"2.4"}, modelParallelHook},
    Rule{"model-parallel-old-units", kOfLightning, {"2.4"}, modelParallelOldUnits},
};

} // namespace

std::span<const Rule> shardingRules()
{
    return kRules;
}

} // namespace mantissa
