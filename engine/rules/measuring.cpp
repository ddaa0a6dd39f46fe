#include "engine/recipe/fields.h"
#include "engine/rules/callback_reading.h"
#include "engine/rules/making.h"
#include "engine/rules/reading.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace mantissa {
namespace {

constexpr std::array kProfilers = {"simple", "advanced", "pytorch", "xla"};

/// An argument of the profiler object, wherever it is written.
const Value& profilerArgument(const RuleContext& context, std::string_view className,
                              std::string_view argument)
{
    const Value& knob =
        otherKnob(context, "profiler." + std::string(className) + "." + std::string(argument));
    if (!knob.isAbsent())
        return knob;
    const Value& profiler = context.at(field::profiler);
    return profiler[classOf(profiler) == className ? "init_args" : ""][argument];
}

std::string profilerPath(const RuleContext& context, std::string_view className, std::string_view argument)
{
    const std::string knob = "profiler." + std::string(className) + "." + std::string(argument);
    if (!otherKnob(context, knob).isAbsent())
        return joinPath("mantissa.knobs", knob);
    return std::string(field::profiler.path) + ".init_args." + std::string(argument);
}

void profilerUnknown(RuleContext& context)
{
    const Value& profiler = context.at(field::profiler);
    std::string name = profiler.asString();
    std::transform(name.begin(), name.end(), name.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    const bool known = std::find(kProfilers.begin(), kProfilers.end(), name) != kProfilers.end();
    if (!profiler.isString() || known || name.find("profiler") != std::string::npos)
        return;
    Finding finding = findingAt(Severity::WontStart, Stage::Configure, {field::profiler.path});
    finding.message = "There is no profiler named " + profiler.text() + ".";
    finding.why = "The names are simple, advanced, pytorch and xla, in capitals or not.";
    finding.source = inLightning("src/lightning/pytorch/trainer/setup.py, _init_profiler");
    finding.engine = "better: times every stage of a step in any case";
    finding.raises =
        "MisconfigurationException: When passing string value for the `profiler` parameter of `Trainer`, "
        "it can only be one of ['simple', 'advanced', 'pytorch', 'xla']";
    finding.fixes = {changingFix("Time the hooks: simple", {setTo(field::profiler.path, "simple")}),
                     changingFix("Time the functions: advanced", {setTo(field::profiler.path, "advanced")}),
                     safeFix("Measure nothing", {unset(field::profiler.path)})};
    context.report(std::move(finding));
}

void profilerSchedule(RuleContext& context)
{
    constexpr std::string_view kClass = "PyTorchProfiler";
    const Value& schedule = profilerArgument(context, kClass, "schedule");
    if (!schedule.isSet() || schedule.isMap() || schedule.asString() == "set"
        || schedule.asString().find('.') != std::string::npos)
        return;
    const std::string path = profilerPath(context, kClass, "schedule");
    Finding finding = findingAt(Severity::WontStart, Stage::Configure, {path});
    finding.message = "The schedule of PyTorchProfiler is " + schedule.text() + ", which is no function.";
    finding.why =
        "torch.profiler calls it with the step's number to learn whether to wait, warm up or record.";
    finding.source = inLightning("src/lightning/pytorch/profilers/pytorch.py, _init_kineto");
    finding.engine = "cannot";
    finding.raises = "MisconfigurationException: Schedule should be a callable.";
    finding.fixes = {
        changingFix("Use the schedule by default", {unset(path)}),
        manualFix("Make one",
                  "PyTorchProfiler(schedule=torch.profiler.schedule(wait=1, warmup=1, active=3))")};
    context.report(std::move(finding));
}

/// The argument was added after 2.6.6; the released class hands it to one that does not know it.
void throughputArgument(RuleContext& context)
{
    for (const auto& monitor : callbacksNamed(context, "ThroughputMonitor")) {
        constexpr const char* kArgument = "sparse_cuda_acceleration_factor";
        if (monitor[kArgument].isAbsent() || !fits(context))
            continue;
        Finding finding = findingAt(Severity::WontStart, Stage::Setup, {monitor.path(kArgument)});
        finding.message = "ThroughputMonitor of Lightning " + context.target().lightning + " knows no "
            + std::string(kArgument) + ".";
        finding.why =
            "It passes what it does not know on to its counter, which refuses it when the run is set up.";
        finding.source = inCallback("throughput_monitor", "setup");
        finding.engine = "cannot";
        finding.raises = "TypeError: Throughput.__init__() got an unexpected keyword argument "
                         "'sparse_cuda_acceleration_factor'";
        finding.fixes = {monitor.byDefault(kArgument, "Leave it out")};
        context.report(std::move(finding));
    }
}

void throughputWindow(RuleContext& context)
{
    for (const auto& monitor : callbacksNamed(context, "ThroughputMonitor")) {
        const Value& window = monitor["window_size"];
        if (!window.isInteger() || window.asInteger() > 1 || !isUsed(context))
            continue;
        Finding finding = findingAt(Severity::WontStart, Stage::Setup, {monitor.path("window_size")});
        finding.message = "window_size=" + window.text() + " is too short: it takes 2 or more.";
        finding.why = "A rate is worked out from the first and the last entry of the window.";
        finding.source = inLightning("src/lightning/fabric/utilities/throughput.py, _MonotonicWindow");
        finding.engine = "cannot";
        finding.raises = "AssertionError: assert window_size > 1";
        finding.fixes = {monitor.byDefault("window_size", "100 batches, as by default"),
                         monitor.with("window_size", 2, "The shortest window")};
        context.report(std::move(finding));
    }
}

void writerInterval(RuleContext& context)
{
    for (const auto& writer : callbacksNamed(context, "BasePredictionWriter")) {
        const std::string interval = writer["write_interval"].asString("batch");
        if (interval == "batch" || interval == "epoch" || interval == "batch_and_epoch")
            continue;
        Finding finding = writer.refused("write_interval", "__init__");
        finding.source = inCallback("prediction_writer", "__init__");
        finding.message = "write_interval is " + interval + "; it takes batch, epoch or batch_and_epoch.";
        finding.why = "It says which of the two hooks of the class are called.";
        finding.engine = "cannot";
        finding.raises = "MisconfigurationException: `write_interval` should be one of ['batch', 'epoch', "
                         "'batch_and_epoch'].";
        finding.fixes = {writer.with("write_interval", "batch", "Write after each batch"),
                         writer.with("write_interval", "epoch", "Write at the end",
                                     "All predictions are kept in memory until then.")};
        context.report(std::move(finding));
    }
}

void writerWithoutHook(RuleContext& context)
{
    for (const auto& writer : callbacksNamed(context, "BasePredictionWriter")) {
        const Value& hooks = writer["hooks"];
        if (context.at(field::runFn).asString() != "predict" || !hooks.isBool() || hooks.asBool())
            continue;
        const bool byEpoch = writer["write_interval"].asString("batch") == "epoch";
        const std::string hook = byEpoch ? "write_on_epoch_end" : "write_on_batch_end";
        Finding finding = findingAt(Severity::Stops, Stage::Record, {writer.path("hooks")});
        finding.message = "The prediction writer does not define " + hook + ", which is called.";
        finding.why =
            "BasePredictionWriter only says when to write; what is written is up to the class made from it.";
        finding.source = inCallback("prediction_writer", hook);
        finding.engine = "cannot";
        finding.raises = "NotImplementedError: " + hook;
        finding.fixes = {manualFix("Define it",
                                   "def " + hook
                                       + "(self, trainer, pl_module, prediction, batch_indices, …):\n"
                                         "    torch.save(prediction, …)"),
                         writer.without("Leave the callback out", "predict returns the predictions then.")};
        context.report(std::move(finding));
    }
}

constexpr std::array kRules = {
    Rule{"profiler-unknown", kOfTrainer, {"2.0"}, profilerUnknown},
    Rule{"profiler-schedule", kOfTrainer, {"2.0"}, profilerSchedule},
    Rule{"throughput-argument", kOfTrainer, {"2.1", "2.7"}, throughputArgument},
    Rule{"throughput-window", kOfTrainer, {"2.1"}, throughputWindow},
    Rule{"prediction-writer-interval", kOfTrainer, {"2.0"}, writerInterval},
    Rule{"prediction-writer-hook", kOfTrainer, {"2.0"}, writerWithoutHook},
};

} // namespace

std::span<const Rule> measuringRules()
{
    return kRules;
}

} // namespace mantissa
