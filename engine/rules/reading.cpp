#include "engine/rules/reading.h"

#include "engine/recipe/asked.h"
#include "engine/recipe/fields.h"
#include "engine/recipe/knobs.h"
#include "engine/rules/making.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace mantissa {
namespace {

std::string lowered(std::string text)
{
    std::transform(text.begin(), text.end(), text.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return text;
}

StrategyFamily familyOfClass(std::string_view name)
{
    if (name == "FSDPStrategy")
        return StrategyFamily::Fsdp;
    if (name == "DDPStrategy")
        return StrategyFamily::Ddp;
    if (name == "DeepSpeedStrategy")
        return StrategyFamily::DeepSpeed;
    if (name == "ModelParallelStrategy")
        return StrategyFamily::ModelParallel;
    if (name == "SingleDeviceStrategy")
        return StrategyFamily::Single;
    return StrategyFamily::Other;
}

/// Strategy names are lower-cased by the target before it looks them up.
StrategyFamily familyOfAlias(std::string_view alias)
{
    if (alias == "fsdp" || alias == "fsdp_cpu_offload")
        return StrategyFamily::Fsdp;
    if (alias.starts_with("ddp"))
        return StrategyFamily::Ddp;
    if (alias.starts_with("deepspeed"))
        return StrategyFamily::DeepSpeed;
    if (alias == "single_device")
        return StrategyFamily::Single;
    return StrategyFamily::Other;
}

StrategyFamily automaticFamily(const RuleContext& context)
{
    const Value& devices = context.at(field::devices);
    const bool several = devices.asInteger(1) > 1 || devices.asList().size() > 1
        || context.at(field::numNodes).asInteger(1) > 1;
    return several ? StrategyFamily::Ddp : StrategyFamily::Single;
}

constexpr std::array<std::string_view, 4> kFusedOptimizers = {"SGD", "Adam", "AdamW", "Adagrad"};

/// Optimizers that announce `_step_supports_amp_scaling`: torch's fused ones, and two of apex.
bool announcesUnscaling(const OptimizerReading& optimizer, const Value& arguments)
{
    if (optimizer.name == "SelfUnscaling" || optimizer.name == "DistributedFusedAdam")
        return true;
    if (optimizer.classPath.starts_with("apex."))
        return optimizer.name == "FusedAdam" && arguments["capturable"].asBool();
    const bool known =
        std::find(kFusedOptimizers.begin(), kFusedOptimizers.end(), optimizer.name) != kFusedOptimizers.end();
    return known && optimizer.fused;
}

bool isCatalogued(const OptimizerReading& optimizer)
{
    return optimizer.classPath.starts_with("torch.optim.") || optimizer.classPath.starts_with("bitsandbytes.")
        || optimizer.classPath.starts_with("apex.") || optimizer.classPath.find('.') == std::string::npos;
}

bool isPositive(const Value& value)
{
    return value.isBool() ? value.asBool() : value.asDouble() > 0.0;
}

bool isZero(const Value& value)
{
    return value.isNumber() && value.asDouble() == 0.0;
}

} // namespace

const Value& listEntry(const Value& list, std::string_view name)
{
    static const Value absent;
    for (const Value& item : list.asList()) {
        if (classOf(item) == name)
            return item;
    }
    return absent;
}

StrategyReading readStrategy(const RuleContext& context)
{
    const Value& value = context.at(field::strategy);
    StrategyReading reading;
    if (value.isMap() || value.asString().find('.') != std::string::npos
        || familyOfClass(value.asString()) != StrategyFamily::Other) {
        reading.name = classOf(value);
        reading.isAlias = false;
        reading.family = familyOfClass(reading.name);
        return reading;
    }
    reading.name = lowered(value.asString("auto"));
    reading.family = reading.name == "auto" ? automaticFamily(context) : familyOfAlias(reading.name);
    return reading;
}

DeviceKind readDevice(RuleContext& context)
{
    const Value& value = context.at(field::accelerator);
    const std::string name = value.isMap() ? classOf(value) : value.asString("auto");
    if (name == "cpu" || name == "CPUAccelerator")
        return DeviceKind::Cpu;
    if (name == "gpu" || name == "cuda" || name == "CUDAAccelerator")
        return DeviceKind::Cuda;
    if (name == "mps" || name == "MPSAccelerator")
        return DeviceKind::Mps;
    if (name == "tpu" || name == "XLAAccelerator")
        return DeviceKind::Tpu;
    if (name != "auto")
        return DeviceKind::Unknown;
    if (context.target().gpus)
        return *context.target().gpus > 0 ? DeviceKind::Cuda : DeviceKind::Cpu;
    context.assume(field::accelerator.path, "The target has a CUDA GPU.");
    return DeviceKind::Cuda;
}

bool fits(const RuleContext& context)
{
    return context.at(field::runFn).asString("fit") == "fit";
}

bool startsLoop(const RuleContext& context)
{
    if (!fits(context) || isZero(context.at(field::maxEpochs)) || isZero(context.at(field::maxSteps)))
        return false;
    return !isZero(context.at(field::limitTrainBatches)) || isPositive(context.at(field::fastDevRun));
}

bool takesSteps(const RuleContext& context)
{
    return startsLoop(context) && !isZero(context.at(field::numOptimizers))
        && context.at(field::trainingStepOutput).asString() != "none";
}

bool isAutomatic(RuleContext& context)
{
    if (context.onFabric())
        return true;
    if (bringsOptimizers(context.setup()))
        return false; // It follows from the model, whatever is said about it.
    return context.fact(field::automaticOptimization.path, true, "The module uses automatic optimization.");
}

void addAutomatic(const RuleContext& context, Finding& finding)
{
    if (bringsOptimizers(context.setup()))
        return;
    finding.fixes.push_back(changingFix("Optimize automatically",
                                        {setTo(field::automaticOptimization.path, true)},
                                        "The module must let the Trainer call backward and step: remove "
                                        "automatic_optimization = False and the "
                                        "calls of manual_backward, step and zero_grad."));
}

bool overrides(const RuleContext& context, std::string_view hook)
{
    const auto& hooks = context.at(field::overrides).asList();
    return std::any_of(hooks.begin(), hooks.end(),
                       [&](const Value& name) { return name.asString() == hook; });
}

OptimizerReading readOptimizer(RuleContext& context)
{
    const Value& value = context.at("optimizer");
    OptimizerReading optimizer;
    optimizer.classPath = value.isMap() ? value["class_path"].asString() : value.asString();
    optimizer.name = classOf(value);
    const Value& arguments = value["init_args"];
    optimizer.fused = arguments["fused"].asBool();
    optimizer.selfUnscaling = announcesUnscaling(optimizer, arguments);
    if (const Value& given = context.at(field::selfUnscaling); given.isBool())
        optimizer.selfUnscaling = given.asBool();
    else if (bringsOptimizers(context.setup()))
        optimizer.name = "Adam";
    else if (optimizer.name.empty())
        context.assume("optimizer",
                       "The optimizer, made in the module, does not unscale gradients by itself.");
    else if (!optimizer.selfUnscaling && !isCatalogued(optimizer))
        context.assume(field::selfUnscaling.path, optimizer.name + " does not unscale gradients by itself.");
    if (optimizer.name.empty())
        optimizer.name = "the optimizer";
    return optimizer;
}

namespace {

constexpr std::string_view kOwnClipValue = "module.clip_gradients.val";
constexpr std::string_view kOwnClipAlgorithm = "module.clip_gradients.algorithm";

std::string thresholdText(std::string_view name, const Value& value)
{
    return std::string(name) + "=" + value.text();
}

bool clipsInItsOwnWay(RuleContext& context)
{
    return context.fact(field::ownClipping.path, false,
                        "The module's configure_gradient_clipping calls self.clip_gradients.");
}

ClipReading clipOfFabric(const RuleContext& context)
{
    ClipReading clip;
    const Value& norm = context.at(field::fabricMaxNorm);
    const Value& value = context.at(field::fabricClipValue);
    if (norm.isSet() || value.isSet()) { // Fabric unscales whatever the threshold is.
        clip.byNorm = norm.isSet();
        clip.active = true;
        clip.path = clip.byNorm ? field::fabricMaxNorm.path : field::fabricClipValue.path;
        clip.value = (clip.byNorm ? norm : value).asDouble();
        clip.text = thresholdText(clip.byNorm ? "max_norm" : "clip_val", clip.byNorm ? norm : value);
        return clip;
    }
    const Value& flag = context.at(field::clipValue);
    clip.byNorm = lowered(context.at(field::clipAlgorithm).asString("norm")) != "value";
    clip.active = isPositive(flag);
    clip.path = field::clipValue.path;
    clip.value = flag.asDouble();
    clip.text = thresholdText(clip.byNorm ? "max_norm" : "clip_val", flag);
    return clip;
}

} // namespace

ClipReading readClip(RuleContext& context)
{
    if (context.onFabric())
        return clipOfFabric(context);
    ClipReading clip;
    Value ownValue; // What the module's own call of clip_gradients passes.
    Value ownAlgorithm;
    const Value* value = &context.at(field::clipValue);
    const Value* algorithm = &context.at(field::clipAlgorithm);
    clip.path = field::clipValue.path;
    clip.algorithmPath = algorithm->isSet() ? field::clipAlgorithm.path : std::string_view();
    clip.byHand = !isAutomatic(context);
    if (clip.byHand || overrides(context, "configure_gradient_clipping")) {
        const auto& calls = context.at(field::manualCalls).asList();
        const bool called = !clip.byHand || std::any_of(calls.begin(), calls.end(), [](const Value& call) {
            return call.asString() == "clip_gradients";
        });
        if (!called || (!clip.byHand && clipsInItsOwnWay(context)))
            return clip;
        ownValue = knobValue(context.setup(), kOwnClipValue);
        ownAlgorithm = knobValue(context.setup(), kOwnClipAlgorithm);
        if (ownValue.isSet()) {
            value = &ownValue;
            clip.path = pathOfKnob(context.setup(), kOwnClipValue);
        }
        if (ownAlgorithm.isSet()) {
            algorithm = &ownAlgorithm;
            clip.algorithmPath = pathOfKnob(context.setup(), kOwnClipAlgorithm);
        }
    }
    clip.byNorm = lowered(algorithm->asString("norm")) != "value";
    clip.active = isPositive(*value);
    clip.value = value->isBool() ? 1.0 : value->asDouble();
    clip.text = thresholdText("gradient_clip_val", *value);
    return clip;
}

} // namespace mantissa
