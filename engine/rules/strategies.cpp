#include "engine/recipe/fields.h"
#include "engine/rules/making.h"
#include "engine/rules/run_reading.h"

#include <algorithm>
#include <array>

namespace mantissa {
namespace {

constexpr std::string_view kConnector = "src/lightning/pytorch/trainer/connectors/accelerator_connector.py, ";

Fix withFsdp()
{
    return changingFix("Shard with FSDP", {setTo(field::strategy.path, "fsdp")});
}

void singleXlaAlias(RuleContext& context)
{
    const StrategyReading strategy = readStrategy(context);
    if (!strategy.isAlias || (strategy.name != "single_xla" && strategy.name != "single_tpu")
        || readDevice(context) == DeviceKind::Tpu)
        return;
    Finding finding = findingAt(Severity::WontStart, Stage::Configure, {field::strategy.path});
    finding.message = "strategy=" + strategy.name + " is registered, and cannot be made from its name alone.";
    finding.why = "The class wants to be told its device, and a short name passes no arguments.";
    finding.source = inLightning("src/lightning/pytorch/strategies/single_xla.py, SingleDeviceXLAStrategy");
    finding.engine = "cannot";
    finding.raises =
        "TypeError: SingleDeviceXLAStrategy.__init__() missing 1 required positional argument: 'device'";
    finding.fixes = {changingFix("Leave the choice to the target", {setTo(field::strategy.path, "auto")})};
    context.report(std::move(finding));
}

void xlaMissing(RuleContext& context)
{
    const StrategyReading strategy = readStrategy(context);
    const bool xla = strategy.name == "XLAStrategy" || strategy.name == "XLAFSDPStrategy"
        || strategy.name.starts_with("xla");
    const std::string accelerator = classOf(context.at(field::accelerator));
    const bool tpu = accelerator == "tpu" || accelerator == "XLAAccelerator";
    if ((!xla && !tpu) || hasPackage(context, "torch_xla"))
        return;
    Finding finding =
        findingAt(Severity::WontStart, Stage::Configure,
                  {tpu ? field::accelerator.path : field::strategy.path, field::envPackages.path});
    finding.message = (tpu ? "accelerator=" + accelerator : "strategy=" + strategy.name)
        + " needs the package torch_xla, and the target does not have it.";
    finding.why = "TPUs are driven by torch_xla alone, which is installed beside torch.";
    finding.source = inLightning("src/lightning/fabric/accelerators/xla.py, XLAAccelerator.__init__");
    finding.engine = "cannot";
    finding.raises = "ModuleNotFoundError: Requirement 'torch_xla>=1.13' not met.";
    finding.fixes = {
        changingFix("Take what the machine has",
                    {setTo(field::accelerator.path, "auto"), setTo(field::strategy.path, "auto")}),
        manualFix("Install torch_xla on the target", "pip install torch_xla")};
    context.report(std::move(finding));
}

/// The alias makes the strategy with its default device, which is the CPU.
void singleDeviceAlias(RuleContext& context)
{
    const StrategyReading strategy = readStrategy(context);
    const Value& written = strategyArgument(context, "device");
    const bool onCpu = strategy.isAlias || written.asString("cpu") == "cpu";
    const bool single = strategy.name == "single_device" || strategy.name == "SingleDeviceStrategy";
    if (!single || !onCpu || !isCalled(context))
        return;
    const DeviceKind device = readDevice(context);
    if (device != DeviceKind::Cuda && device != DeviceKind::Mps)
        return;
    const bool cuda = device == DeviceKind::Cuda;
    Finding finding =
        findingAt(Severity::WontStart, Stage::Setup, {field::strategy.path, field::accelerator.path});
    finding.message = "strategy=" + strategy.name + " is made for the CPU, and the accelerator is "
        + (cuda ? "a CUDA GPU." : "an Apple GPU.");
    finding.why =
        "Its device is an argument whose default is the CPU; the accelerator refuses it when the run is set "
        "up. With strategy=auto the target makes the same class with the right device.";
    finding.source = inLightning(cuda ? "src/lightning/pytorch/accelerators/cuda.py, setup_device"
                                      : "src/lightning/pytorch/accelerators/mps.py, setup_device");
    finding.engine = "better: one rank runs on the device that there is";
    finding.raises = std::string("MisconfigurationException: Device should be ") + (cuda ? "GPU" : "MPS")
        + ", got cpu instead";
    finding.fixes = {safeFix("Let the target make it, for one device",
                             {setTo(field::strategy.path, "auto"), setTo(field::devices.path, 1)}),
                     changingFix("Run on the CPU", {setTo(field::accelerator.path, "cpu")})};
    context.report(std::move(finding));
}

bool isNotebookSafe(const RuleContext& context)
{
    const StrategyReading strategy = readStrategy(context);
    const std::string method = strategyArgument(context, "start_method").asString();
    return !isParallel(context) || strategy.name == "auto" || strategy.name.starts_with("ddp_fork")
        || strategy.name.starts_with("ddp_notebook") || strategy.name.starts_with("xla") || method == "fork";
}

void notebook(RuleContext& context)
{
    if (!context.at(field::envInteractive).asBool() || isNotebookSafe(context))
        return;
    const std::string strategy = readStrategy(context).name;
    Finding finding =
        findingAt(Severity::WontStart, Stage::Configure, {field::strategy.path, field::envInteractive.path});
    finding.message =
        "strategy=" + strategy + " starts the script again for each process, and a notebook is no script.";
    finding.why = "Of the ways to start processes only fork keeps what the notebook's cells have defined.";
    finding.source = inLightning(std::string(kConnector) + "_lazy_init_strategy");
    finding.engine = "better: ranks are threads of one process";
    const std::string written =
        readStrategy(context).isAlias ? "'" + strategy + "'" : "<" + strategy + " object>";
    finding.raises = "MisconfigurationException: `Trainer(strategy=" + written
        + ")` is not compatible with an interactive environment.";
    finding.fixes = {
        changingFix(
            "Replicate with processes that are forked", {setTo(field::strategy.path, "ddp_notebook")},
            "Nothing may have touched CUDA before the fork. Every rank holds the whole model and state."),
        changingFix("Use one device", {setTo(field::strategy.path, "auto"), setTo(field::devices.path, 1)}),
        manualFix("Run it as a script", "Move the code into a file and start it with python.")};
    context.report(std::move(finding));
}

/// What may be said by the strategy object and in a second place.
struct Twice {
    std::string_view argument;
    std::string_view what; ///< As Lightning names it.
    std::string_view suffix; ///< Of the plugin's class; empty: the accelerator flag.
};
constexpr std::array kTwice = {Twice{"accelerator", "accelerator", ""},
                               Twice{"precision_plugin", "precision", "Precision"},
                               Twice{"checkpoint_io", "checkpoint_io", "CheckpointIO"},
                               Twice{"cluster_environment", "cluster_environment", "Environment"}};

std::string pluginOfKind(const RuleContext& context, std::string_view suffix)
{
    for (const Value& plugin : context.at(field::plugins).asEntries()) {
        const std::string whole = classOf(plugin);
        const std::string name = whole.substr(0, whole.find('('));
        if (name.ends_with(suffix))
            return whole;
    }
    return {};
}

void givenTwice(RuleContext& context)
{
    const std::string strategy = readStrategy(context).name;
    for (const auto& [argument, what, suffix] : kTwice) {
        const Value& flag = context.at(field::accelerator);
        const bool byFlag = suffix.empty();
        const std::string other = byFlag ? (flag.isSet() && flag.asString() != "auto" ? flag.text() : "")
                                         : pluginOfKind(context, suffix);
        if (!strategyArgument(context, argument).isSet() || other.empty())
            continue;
        const std::string path = std::string(field::strategy.path) + ".init_args." + std::string(argument);
        Finding finding = findingAt(Severity::WontStart, Stage::Configure,
                                    {path, byFlag ? field::accelerator.path : field::plugins.path});
        finding.message = strategy + " is given " + std::string(argument) + ", and "
            + (byFlag ? "accelerator=" + other : other + " among the plugins") + " says it a second time.";
        finding.why = "The target does not choose between the two, even where they agree.";
        finding.source = inLightning(std::string(kConnector) + "_check_config_and_set_final_flags");
        finding.engine = "same";
        finding.raises = "MisconfigurationException: " + std::string(what)
            + " set through both strategy class and " + (byFlag ? "accelerator flag" : "plugins")
            + ", choose one";
        const Edit drop = byFlag                  ? unset(field::accelerator.path)
            : context.at(field::plugins).isList() ? removeEntry(field::plugins.path, other)
                                                  : unset(field::plugins.path);
        finding.fixes = {
            changingFix("Leave it to " + std::string(byFlag ? "the flag" : "plugins"), {unset(path)}),
            changingFix("Leave it to the strategy object", {drop})};
        context.report(std::move(finding));
    }
}

void deviceListAgainstFlag(RuleContext& context)
{
    const Value& devices = strategyArgument(context, "parallel_devices");
    const std::string first =
        devices.isList() && !devices.asList().empty() ? devices.asList().front().text() : devices.asString();
    const Value& flag = context.at(field::accelerator);
    const std::string accelerator = classOf(flag);
    const bool cuda = first.starts_with("cuda");
    const bool fits = !flag.isSet() || accelerator == "auto"
        || (cuda ? accelerator == "gpu" || accelerator == "cuda" : accelerator == "cpu");
    if (fits || (!cuda && !first.starts_with("cpu")))
        return;
    Finding finding = findingAt(Severity::WontStart, Stage::Configure,
                                {field::strategyParallelDevices.path, field::accelerator.path});
    finding.message = "The strategy's parallel_devices are " + std::string(cuda ? "GPUs" : "CPUs")
        + ", and accelerator=" + accelerator + " asks for something else.";
    finding.why = "The list of devices decides where the processes run; the flag may not contradict it.";
    finding.source = inLightning(std::string(kConnector) + "_check_config_and_set_final_flags");
    finding.engine = "same";
    finding.raises = std::string("MisconfigurationException: ") + (cuda ? "GPU" : "CPU")
        + " parallel_devices set through " + readStrategy(context).name + " class, but accelerator set to "
        + accelerator;
    finding.fixes = {changingFix("Follow the list", {setTo(field::accelerator.path, cuda ? "gpu" : "cpu")}),
                     changingFix("Follow the flag", {unset(field::strategyParallelDevices.path)})};
    context.report(std::move(finding));
}

void localSgdPeriod(RuleContext& context)
{
    const Value& state = strategyArgument(context, "ddp_comm_state");
    if (readStrategy(context).family != StrategyFamily::Ddp || classOf(state) != "PostLocalSGDState"
        || strategyArgument(context, "model_averaging_period").isSet() || !fits(context))
        return;
    Finding finding =
        findingAt(Severity::WontStart, Stage::Setup, {field::ddpModelAveraging.path, field::strategy.path});
    finding.message = "Post-local SGD is asked for, without model_averaging_period.";
    finding.why =
        "Ranks then step by themselves and average their models now and then; nobody said how often.";
    finding.source = inLightning("src/lightning/pytorch/strategies/ddp.py, _enable_model_averaging");
    finding.engine = "cannot";
    finding.raises =
        "ValueError: Post-localSGD algorithm is used, but model averaging period is not provided to DDP "
        "strategy.";
    finding.fixes = {changingFix("Average every 4 steps", {setTo(field::ddpModelAveraging.path, 4)}),
                     changingFix("Reduce gradients at every step", {setTo(field::strategy.path, "ddp")})};
    context.report(std::move(finding));
}

/// A module that torch.compile has wrapped as a whole.
void compiledModule(RuleContext& context)
{
    const StrategyFamily family = readStrategy(context).family;
    if (!context.at(field::compiled).asBool() || !isCalled(context)
        || (family != StrategyFamily::DeepSpeed && family != StrategyFamily::ModelParallel))
        return;
    const std::string name =
        family == StrategyFamily::DeepSpeed ? "DeepSpeedStrategy" : "ModelParallelStrategy";
    Finding finding =
        findingAt(Severity::WontStart, Stage::Setup, {field::compiled.path, field::strategy.path});
    finding.message = "The module is compiled before it is handed over, and " + name + " wants to change it.";
    finding.why = "The strategy rewrites the module; what was compiled before would no longer be what runs.";
    finding.source =
        inLightning("src/lightning/pytorch/utilities/compile.py, _verify_strategy_supports_compile");
    finding.engine = "cannot";
    finding.raises =
        "RuntimeError: Using a compiled model is incompatible with the current strategy: `" + name + "`.";
    finding.fixes = {changingFix("Hand the module over uncompiled", {setTo(field::compiled.path, false)}),
                     manualFix("Compile the layers in configure_model",
                               "def configure_model(self):\n    self.layers = torch.compile(self.layers)"),
                     withFsdp()};
    context.report(std::move(finding));
}

constexpr std::array kRules = {
    Rule{"strategy-single-xla", kOfLightning, {"2.0"}, singleXlaAlias},
    Rule{"strategy-single-device", kOfTrainer, {"2.0"}, singleDeviceAlias},
    Rule{"strategy-notebook", kOfLightning, {"2.0"}, notebook},
    Rule{"strategy-given-twice", kOfLightning, {"2.0"}, givenTwice},
    Rule{"strategy-device-list", kOfLightning, {"2.0"}, deviceListAgainstFlag},
    Rule{"strategy-local-sgd", kOfTrainer, {"2.0"}, localSgdPeriod},
    Rule{"strategy-compiled", kOfTrainer, {"2.0"}, compiledModule},
    Rule{"xla-missing", kOfLightning, {"2.0"}, xlaMissing},
};

} // namespace

std::span<const Rule> strategyRules()
{
    return kRules;
}

} // namespace mantissa
