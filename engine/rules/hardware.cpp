#include "engine/recipe/fields.h"
#include "engine/recipe/knobs.h"
#include "engine/rules/making.h"
#include "engine/rules/reading.h"

#include <array>

namespace mantissa {
namespace {

std::string deviceWords(DeviceKind device)
{
    switch (device) {
    case DeviceKind::Cpu:
        return "a CPU";
    case DeviceKind::Mps:
        return "an Apple GPU";
    case DeviceKind::Tpu:
        return "a TPU";
    case DeviceKind::Cuda:
        return "a CUDA GPU";
    case DeviceKind::Unknown:
        break;
    }
    return "another device";
}

bool asksForCuda(const RuleContext& context)
{
    const std::string name = classOf(context.at(field::accelerator));
    return name == "gpu" || name == "cuda" || name == "CUDAAccelerator";
}

void acceleratorUnavailable(RuleContext& context)
{
    if (!asksForCuda(context))
        return;
    if (!context.target().gpus)
        context.assume(field::accelerator.path, "The target has the GPUs that the set-up asks for.");
    if (context.target().gpus.value_or(1) > 0 || knobValue(context.setup(), "env.mps_available").asBool())
        return;
    const std::string name = classOf(context.at(field::accelerator));
    Finding finding = findingAt(Severity::WontStart, Stage::Configure, {field::accelerator.path});
    finding.message =
        "accelerator=" + name + " asks for a GPU, and the target \"" + context.target().name + "\" has none.";
    finding.why = "The accelerator is resolved before anything else; without a device it cannot be made.";
    finding.source = inLightning("src/lightning/pytorch/trainer/connectors/accelerator_connector.py, "
                                 "_choose_gpu_accelerator_backend");
    finding.engine = "better: the step runs on the CPU";
    finding.raises = name == "gpu"
        ? "MisconfigurationException: No supported gpu backend found!"
        : "MisconfigurationException: `CUDAAccelerator` can not run on your system ...";
    finding.fixes = {
        changingFix("Take the device that is there", {setTo(field::accelerator.path, "auto")}),
        changingFix("Use the CPU, without sharding",
                    {setTo(field::accelerator.path, "cpu"), setTo(field::strategy.path, "auto")})};
    context.report(std::move(finding));
}

void fsdpNeedsGpu(RuleContext& context)
{
    if (readStrategy(context).family != StrategyFamily::Fsdp)
        return;
    const DeviceKind device = readDevice(context);
    if (device == DeviceKind::Cuda || device == DeviceKind::Unknown)
        return;
    Finding finding =
        findingAt(Severity::WontStart, Stage::Configure, {field::strategy.path, field::accelerator.path});
    finding.message = "strategy=" + readStrategy(context).name + " needs a CUDA GPU; accelerator="
        + context.at(field::accelerator).asString("auto") + " gives it " + deviceWords(device) + ".";
    finding.why = "The target refuses FSDP away from CUDA, although torch can shard on CPUs.";
    finding.source = inLightning("src/lightning/pytorch/trainer/connectors/accelerator_connector.py, "
                                 "_check_strategy_and_fallback");
    finding.engine = "better: shards over CPU rank threads";
    finding.raises = "ValueError: The strategy `fsdp` requires a GPU accelerator, but received `accelerator='"
        + context.at(field::accelerator).asString("auto") + "'`.";
    finding.fixes = {changingFix("Run on CUDA", {setTo(field::accelerator.path, "cuda")}),
                     changingFix("Replicate instead of sharding", {setTo(field::strategy.path, "ddp")},
                                 "Every rank then holds the whole model and the whole optimizer state."),
                     changingFix("Train with this engine", {setTo(field::target.path, "mantissa")})};
    context.report(std::move(finding));
}

/// What the target itself calls the accelerator in its words.
std::string acceleratorWord(const RuleContext& context)
{
    const std::string name = context.setup().effective(field::accelerator).asString("auto");
    return name == "gpu" ? "cuda" : name;
}

void devicesNone(RuleContext& context)
{
    const Value& devices = context.at(field::devices);
    const bool isNone =
        devices == Value(0) || devices.asString() == "0" || (devices.isList() && devices.asList().empty());
    if (!isNone)
        return;
    Finding finding = findingAt(Severity::WontStart, Stage::Configure, {field::devices.path});
    finding.message = "devices=" + devices.text() + " leaves nothing to train on.";
    finding.why = "0 and an empty list are refused; -1 and auto stand for all that there are.";
    finding.source = inLightning("src/lightning/pytorch/trainer/connectors/accelerator_connector.py, "
                                 "_check_device_config_and_set_final_flags");
    finding.engine = "same";
    finding.raises = "MisconfigurationException: `Trainer(devices=" + devices.text()
        + ")` value is not a valid input using " + acceleratorWord(context) + " accelerator.";
    finding.fixes = {changingFix("Use one device", {setTo(field::devices.path, 1)}),
                     changingFix("Use every device", {setTo(field::devices.path, -1)})};
    context.report(std::move(finding));
}

void numNodes(RuleContext& context)
{
    const Value& nodes = context.at(field::numNodes);
    if (!nodes.isSet() || (nodes.isInteger() && nodes.asInteger() >= 1) || nodes.isBool())
        return;
    Finding finding = findingAt(Severity::WontStart, Stage::Configure, {field::numNodes.path});
    finding.message = "num_nodes=" + nodes.text() + " is no whole number from 1 on.";
    finding.why = "The ranks are counted as devices × nodes.";
    finding.source = inLightning("src/lightning/pytorch/trainer/connectors/accelerator_connector.py, "
                                 "_check_device_config_and_set_final_flags");
    finding.engine = "better: its ranks are not counted by nodes";
    finding.raises =
        "ValueError: `num_nodes` must be a positive integer, but got " + nodes.asString(nodes.text()) + ".";
    finding.fixes = {changingFix("Use one node", {setTo(field::numNodes.path, 1)})};
    context.report(std::move(finding));
}

constexpr std::array kRules = {
    Rule{"accelerator-unavailable", kOfLightning, {"2.0"}, acceleratorUnavailable},
    Rule{"devices-none", kOfLightning, {"2.0"}, devicesNone},
    Rule{"fsdp-needs-gpu", kOfLightning, {"2.0"}, fsdpNeedsGpu},
    Rule{"num-nodes", kOfLightning, {"2.0"}, numNodes},
};

} // namespace

std::span<const Rule> hardwareRules()
{
    return kRules;
}

} // namespace mantissa
