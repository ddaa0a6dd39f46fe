#include "engine/recipe/fields.h"
#include "engine/rules/making.h"
#include "engine/rules/run_reading.h"

#include <array>

namespace mantissa {
namespace {

constexpr std::string_view kFile = "src/lightning/pytorch/strategies/deepspeed.py, ";

bool isDeepSpeed(const RuleContext& context)
{
    return readStrategy(context).family == StrategyFamily::DeepSpeed;
}

FindingSource inStrategy(std::string_view function)
{
    return inLightning(std::string(kFile) + std::string(function));
}

Fix withFsdp()
{
    return changingFix("Shard with FSDP", {setTo(field::strategy.path, "fsdp")});
}

Fix withDdp()
{
    return changingFix("Replicate with DDP", {setTo(field::strategy.path, "ddp")},
                       "Every rank then holds the whole model and the whole optimizer state.");
}

void packageMissing(RuleContext& context)
{
    if (!isDeepSpeed(context) || hasPackage(context, "deepspeed"))
        return;
    Finding finding =
        findingAt(Severity::WontStart, Stage::Configure, {field::strategy.path, field::envPackages.path});
    finding.message = "strategy=" + readStrategy(context).name
        + " needs the package deepspeed, and the target does not have it.";
    finding.why = "Lightning only drives DeepSpeed; the engine itself is a package of its own.";
    finding.source = inStrategy("DeepSpeedStrategy.__init__");
    finding.engine = "cannot";
    finding.raises =
        "MisconfigurationException: To use the `DeepSpeedStrategy`, you must have DeepSpeed installed.";
    finding.fixes = {withFsdp(), withDdp(), manualFix("Install it on the target", "pip install deepspeed")};
    context.report(std::move(finding));
}

void needsCuda(RuleContext& context)
{
    if (!isDeepSpeed(context) || !isCalled(context))
        return;
    const DeviceKind device = readDevice(context);
    if (device == DeviceKind::Cuda || device == DeviceKind::Unknown)
        return;
    Finding finding =
        findingAt(Severity::WontStart, Stage::Setup, {field::strategy.path, field::accelerator.path});
    finding.message = "strategy=" + readStrategy(context).name + " runs on CUDA GPUs alone, and accelerator="
        + context.at(field::accelerator).asString("auto") + " gives it none.";
    finding.why = "The strategy looks at its accelerator when the run is set up.";
    finding.source = inStrategy("setup_environment");
    finding.engine = "better: zero1 and FSDP share the work over CPU rank threads";
    finding.raises =
        "RuntimeError: The DeepSpeed strategy is only supported on CUDA GPUs but `CPUAccelerator` is used.";
    finding.fixes = {changingFix("Run on CUDA", {setTo(field::accelerator.path, "cuda")}), withDdp()};
    context.report(std::move(finding));
}

void precisionUnsupported(RuleContext& context)
{
    const PrecisionReading precision = readPrecision(context);
    if (precision.plugin != "DeepSpeedPrecision"
        || (precision.asked != "64-true" && !precision.asked.starts_with("transformer-engine")))
        return;
    Finding finding =
        findingAt(Severity::WontStart, Stage::Configure, {precision.settingPath, field::strategy.path});
    finding.message = "DeepSpeed has no precision " + precision.asked
        + ": it takes 32-true, 16-true, bf16-true, 16-mixed or bf16-mixed.";
    finding.why = "The precision becomes a block of DeepSpeed's configuration, which has fp16 and bf16 and "
                  "nothing else.";
    finding.source =
        inLightning("src/lightning/pytorch/plugins/precision/deepspeed.py, DeepSpeedPrecision.__init__");
    finding.engine =
        precision.asked == "64-true" ? "better: shards weights and states in fp64 too" : "cannot";
    finding.raises =
        "ValueError: `Trainer(strategy='deepspeed', precision='" + precision.asked + "')` is not supported.";
    finding.fixes = {
        changingFix("Full precision in float32", {setTo(precision.settingPath, "32-true")}),
        changingFix("Mixed precision in bfloat16", {setTo(precision.settingPath, "bf16-mixed")})};
    if (!precision.fromPlugin)
        finding.fixes.push_back(withDdp());
    context.report(std::move(finding));
}

/// The algorithm alone is enough: the threshold is not looked at.
void clipByValue(RuleContext& context)
{
    std::string algorithm = context.at(field::clipAlgorithm).asString();
    for (char& letter : algorithm)
        letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
    if (!isDeepSpeed(context) || algorithm != "value" || !isCalled(context))
        return;
    const bool clips = context.at(field::clipValue).asDouble() > 0.0;
    Finding finding =
        findingAt(Severity::WontStart, Stage::Setup, {field::clipAlgorithm.path, field::strategy.path});
    finding.message = std::string("DeepSpeed cannot clip by value")
        + (clips ? "." : ", and is asked to although no threshold is set.");
    finding.why = "Gradients are clipped inside DeepSpeed's engine, which knows the norm alone.";
    finding.source = inStrategy("init_deepspeed");
    finding.engine = "better: clips by value under every strategy";
    finding.raises = "MisconfigurationException: DeepSpeed does not support clipping gradients by value.";
    const Fix byNorm = changingFix("Clip by norm", {setTo(field::clipAlgorithm.path, "norm")});
    finding.fixes = {
        clips ? byNorm
              : safeFix("Drop the algorithm, which has nothing to do", {unset(field::clipAlgorithm.path)}),
        withDdp()};
    context.report(std::move(finding));
}

void configAccumulation(RuleContext& context)
{
    const std::string path = std::string(field::deepspeedConfig.path) + ".gradient_accumulation_steps";
    if (!isDeepSpeed(context) || context.at(path).isAbsent() || !isCalled(context))
        return;
    Finding finding = findingAt(Severity::WontStart, Stage::Setup, {path, field::accumulate.path});
    finding.message =
        "DeepSpeed's configuration sets gradient_accumulation_steps to " + context.at(path).text() + ".";
    finding.why = "The Trainer's loop must know the window too, so it is said by accumulate_grad_batches, "
                  "which is then "
                  "passed on.";
    finding.source = inStrategy("_format_batch_size_and_grad_accum_config");
    finding.engine = "cannot";
    finding.raises =
        "MisconfigurationException: Do not set `gradient_accumulation_steps` in the DeepSpeed config as "
        "this will be set with the `accumulate_grad_batches` argument";
    finding.fixes = {safeFix("Say it by accumulate_grad_batches",
                             {unset(path), setTo(field::accumulate.path, context.at(path))})};
    context.report(std::move(finding));
}

void deviceNumbers(RuleContext& context)
{
    const auto& devices = context.at(field::devices).asList();
    bool ordered = true;
    for (std::size_t rank = 0; rank < devices.size(); ++rank)
        ordered = ordered && devices[rank].asInteger(-1) == static_cast<std::int64_t>(rank);
    if (!isDeepSpeed(context) || ordered || !isCalled(context))
        return;
    const auto count = static_cast<std::int64_t>(devices.size());
    Finding finding =
        findingAt(Severity::WontStart, Stage::Setup, {field::devices.path, field::strategy.path});
    finding.message = "devices is " + context.at(field::devices).text()
        + "; under DeepSpeed rank and GPU have the same "
          "number, from 0.";
    finding.why = "DeepSpeed takes the GPU with the number of the local rank, whatever else is asked for.";
    finding.source =
        inLightning("src/lightning/fabric/strategies/deepspeed.py, _validate_device_index_selection");
    finding.engine = "cannot";
    finding.raises = "RuntimeError: The selected device indices " + context.at(field::devices).text()
        + " don't match the local rank values of processes.";
    finding.fixes = {
        changingFix("The first " + std::to_string(count) + " GPUs",
                    {setTo(field::devices.path, Value(count))}),
        manualFix("Hide the other GPUs",
                  "CUDA_VISIBLE_DEVICES=2,3 python train.py, with devices=" + std::to_string(count))};
    context.report(std::move(finding));
}

bool offloadsOptimizer(const RuleContext& context)
{
    const std::string name = readStrategy(context).name;
    return (name.starts_with("deepspeed_") && name.find("offload") != std::string::npos)
        || context.at(field::deepspeedOffloadOptimizer).asBool();
}

/// DeepSpeed wants its own optimizer where the state lies in the memory of the CPU.
void offloadedOptimizer(RuleContext& context)
{
    const Value& force =
        context.at(std::string(field::deepspeedConfig.path) + ".zero_force_ds_cpu_optimizer");
    const bool allowed = force.isBool() && !force.asBool();
    if (!isDeepSpeed(context) || !offloadsOptimizer(context) || allowed || !fits(context))
        return;
    const OptimizerReading optimizer = readOptimizer(context);
    if (!optimizer.classPath.starts_with("torch.optim."))
        return;
    Finding finding =
        findingAt(Severity::WontStart, Stage::Setup, {field::optimizerClass.path, field::strategy.path});
    finding.message = "The optimizer's state is kept in the CPU's memory, and " + optimizer.name
        + " is torch's, not DeepSpeed's.";
    finding.why =
        "The step then runs on the CPU too, where torch's optimizers are slow beside DeepSpeedCPUAdam. "
        "DeepSpeed refuses them unless its configuration says that it is meant.";
    finding.source = {"deepspeed", "0.19.8", "deepspeed/runtime/engine.py, _configure_zero_optimizer"};
    finding.engine = "cannot";
    finding.raises = "ZeRORuntimeException: You are using ZeRO-Offload with a client provided optimizer";
    finding.fixes = {
        manualFix("Take DeepSpeed's optimizer",
                  "from deepspeed.ops.adam import DeepSpeedCPUAdam\noptimizer = "
                  "DeepSpeedCPUAdam(self.parameters())"),
        manualFix("Say that it is meant",
                  "In DeepSpeed's configuration: \"zero_force_ds_cpu_optimizer\": false"),
        changingFix("Keep the state on the GPU", {setTo(field::strategy.path, "deepspeed_stage_2")})};
    context.report(std::move(finding));
}

constexpr std::array kRules = {
    Rule{"deepspeed-missing", kOfLightning, {"2.0"}, packageMissing},
    Rule{"deepspeed-needs-gpu", kOfLightning, {"2.0"}, needsCuda},
    Rule{"deepspeed-precision", kOfLightning, {"2.0"}, precisionUnsupported},
    Rule{"deepspeed-clip-value", kOfTrainer, {"2.0"}, clipByValue},
    Rule{"deepspeed-config-accumulation", kOfTrainer, {"2.0"}, configAccumulation},
    Rule{"deepspeed-device-numbers", kOfLightning, {"2.0"}, deviceNumbers},
    Rule{"deepspeed-offloaded-optimizer", kOfTrainer, {"2.0"}, offloadedOptimizer},
};

} // namespace

std::span<const Rule> deepspeedRules()
{
    return kRules;
}

} // namespace mantissa
