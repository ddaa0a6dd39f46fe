#include "engine/recipe/fields.h"
#include "engine/rules/callback_reading.h"
#include "engine/rules/making.h"
#include "engine/rules/reading.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace mantissa {
namespace {

/// A class that needs a package, and what it raises without.
struct Needs {
    std::string_view name;
    std::vector<std::string_view> packages; ///< Any of them will do.
    std::string_view raises;
    std::string_view file; ///< Below src/lightning/pytorch.
};

bool lacks(RuleContext& context, const Needs& needs)
{
    const auto& installed = context.target().packages;
    if (!installed) {
        context.assume(field::envPackages.path,
                       "The target has the Python packages that the set-up asks for.");
        return false;
    }
    return std::none_of(needs.packages.begin(), needs.packages.end(), [&](std::string_view package) {
        return std::find(installed->begin(), installed->end(), package) != installed->end();
    });
}

Edit logToTable()
{
    return setTo(field::logger.path,
                 ValueMap{{"class_path", Value("lightning.pytorch.loggers.CSVLogger")},
                          {"init_args", Value(ValueMap{{"save_dir", Value("logs")}})}});
}

std::vector<Edit> withPackage(const RuleContext& context, std::string_view package)
{
    ValueList packages;
    for (const std::string& name : context.target().packages.value_or(std::vector<std::string>{}))
        packages.emplace_back(name);
    packages.emplace_back(package);
    return {setTo(field::envPackages.path, std::move(packages))};
}

Finding missing(RuleContext& context, const Needs& needs, std::string path)
{
    const std::string package(needs.packages.front());
    Finding finding = findingAt(Severity::WontStart, Stage::Configure, {path, field::envPackages.path});
    finding.message =
        std::string(needs.name) + " needs the Python package " + package + ", which the target lacks.";
    finding.why = "It is no dependency of Lightning. It is looked for when the object is made.";
    finding.source = inLightning("src/lightning/pytorch/" + std::string(needs.file));
    finding.raises = needs.raises;
    finding.fixes = {changingFix("Install " + package + " on the target", withPackage(context, package),
                                 "pip install " + package)};
    return finding;
}

void loggerPackage(RuleContext& context)
{
    static const std::array kLoggers = {
        Needs{"TensorBoardLogger",
              {"tensorboard", "tensorboardX"},
              "ModuleNotFoundError: Neither `tensorboard` nor `tensorboardX` is available.",
              "loggers/tensorboard.py, __init__"},
        Needs{"WandbLogger",
              {"wandb"},
              "ModuleNotFoundError: Requirement 'wandb>=0.12.10' not met.",
              "loggers/wandb.py, __init__"},
        Needs{"MLFlowLogger",
              {"mlflow", "mlflow-skinny"},
              "ModuleNotFoundError: Requirement 'mlflow>=1.0.0' not met.",
              "loggers/mlflow.py, __init__"},
        Needs{"CometLogger",
              {"comet-ml", "comet_ml"},
              "ModuleNotFoundError: Requirement 'comet-ml' not met.",
              "loggers/comet.py, __init__"},
        Needs{"LitLogger",
              {"litlogger"},
              "ModuleNotFoundError: Requirement 'litlogger' not met.",
              "loggers/litlogger.py, __init__"},
    };
    const ValueList loggers = context.at(field::logger).asEntries();
    for (const Value& logger : loggers) {
        const auto needs =
            std::find_if(kLoggers.begin(), kLoggers.end(),
                         [name = classOf(logger)](const Needs& one) { return one.name == name; });
        if (needs == kLoggers.end() || !lacks(context, *needs))
            continue;
        Finding finding = missing(context, *needs, std::string(field::logger.path));
        finding.engine = "better: a run records its series without a logger";
        finding.fixes.push_back(changingFix("Log to a table, which needs no package", {logToTable()}));
        finding.fixes.push_back(changingFix("Log nothing", {setTo(field::logger.path, false)}));
        context.report(std::move(finding));
        return;
    }
}

void callbackPackage(RuleContext& context)
{
    static const std::array kCallbacks = {
        Needs{"RichModelSummary",
              {"rich"},
              "ModuleNotFoundError: `RichModelSummary` requires `rich` to be installed.",
              "callbacks/rich_model_summary.py, __init__"},
        Needs{"RichProgressBar",
              {"rich"},
              "ModuleNotFoundError: `RichProgressBar` requires `rich` >= 10.2.2.",
              "callbacks/progress/rich_progress.py, __init__"},
        Needs{"SpikeDetection",
              {"torchmetrics"},
              "RuntimeError: SpikeDetection requires `torchmetrics>=1.0.0`",
              "callbacks/spike.py, __init__"},
        Needs{"ServableModuleValidator",
              {"fastapi"},
              "ModuleNotFoundError: Requirement 'fastapi' not met.",
              "serve/servable_module_validator.py, __init__"},
    };
    for (const Needs& needs : kCallbacks) {
        if (!hasCallback(context, needs.name) || !lacks(context, needs))
            continue;
        const std::string path = std::string(field::callbacks.path) + "[" + std::string(needs.name) + "]";
        Finding finding = missing(context, needs, path);
        finding.engine = needs.name == "SpikeDetection" ? "better: needs no package" : "cannot";
        finding.fixes.push_back(withoutCallback(needs.name, "Leave the callback out"));
        context.report(std::move(finding));
    }
}

/// The counters of a CPU come from psutil; those of a GPU from torch.
void deviceStatsPackage(RuleContext& context)
{
    static const Needs kNeeds = {
        "DeviceStatsMonitor",
        {"psutil"},
        "ModuleNotFoundError: `DeviceStatsMonitor` cannot log CPU stats as `psutil` is not "
        "installed.",
        "callbacks/device_stats_monitor.py, setup"};
    for (const auto& monitor : callbacksNamed(context, kNeeds.name)) {
        const Value& cpu = monitor["cpu_stats"];
        if (!fits(context) || !hasLogger(context) || (cpu.isBool() && !cpu.asBool())
            || (!cpu.asBool() && readDevice(context) != DeviceKind::Cpu) || !lacks(context, kNeeds))
            continue;
        Finding finding = missing(context, kNeeds, monitor.path("cpu_stats"));
        finding.stage = Stage::Setup;
        finding.engine = "better: reads the system's own counters";
        finding.fixes.push_back(monitor.with("cpu_stats", false, "No counters of the CPU"));
        context.report(std::move(finding));
    }
}

void profilerPackage(RuleContext& context)
{
    static const Needs kXla = {"XLAProfiler",
                               {"torch_xla"},
                               "ModuleNotFoundError: Requirement 'torch_xla>=1.13' not met.",
                               "profilers/xla.py, __init__"};
    const Value& profiler = context.at(field::profiler);
    std::string name = classOf(profiler);
    std::transform(name.begin(), name.end(), name.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    if ((name != "xla" && name != "xlaprofiler") || !lacks(context, kXla))
        return;
    Finding finding = missing(context, kXla, std::string(field::profiler.path));
    finding.engine = "cannot";
    finding.fixes.push_back(
        changingFix("Measure with the simple profiler", {setTo(field::profiler.path, "simple")}));
    finding.fixes.push_back(safeFix("Measure nothing", {unset(field::profiler.path)}));
    context.report(std::move(finding));
}

void neptuneRemoved(RuleContext& context)
{
    const ValueList loggers = context.at(field::logger).asEntries();
    const bool neptune = std::any_of(loggers.begin(), loggers.end(),
                                     [](const Value& logger) { return classOf(logger) == "NeptuneLogger"; });
    if (!neptune)
        return;
    Finding finding = findingAt(Severity::WontStart, Stage::Configure, {field::logger.path});
    finding.message = "NeptuneLogger is no longer part of Lightning.";
    finding.why =
        "The service was closed to the public; the class is left as a message only, and is not exported.";
    finding.source = inLightning("src/lightning/pytorch/loggers/neptune.py, __init__");
    finding.engine = "better: a run records its series without a logger";
    finding.raises = "AttributeError: module 'pytorch_lightning.loggers' has no attribute 'NeptuneLogger'";
    finding.fixes = {changingFix("Log to a table, which needs no package", {logToTable()}),
                     changingFix("Log nothing", {setTo(field::logger.path, false)})};
    context.report(std::move(finding));
}

constexpr std::array kRules = {
    Rule{"package-of-logger", kOfTrainer, {"2.0"}, loggerPackage},
    Rule{"package-of-callback", kOfTrainer, {"2.0"}, callbackPackage},
    Rule{"package-of-device-stats", kOfTrainer, {"2.0"}, deviceStatsPackage},
    Rule{"package-of-profiler", kOfTrainer, {"2.0"}, profilerPackage},
    Rule{"logger-neptune", kOfTrainer, {"2.6"}, neptuneRemoved},
};

} // namespace

std::span<const Rule> packageRules()
{
    return kRules;
}

} // namespace mantissa
