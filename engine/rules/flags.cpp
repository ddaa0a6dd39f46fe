#include "engine/recipe/fields.h"
#include "engine/rules/making.h"
#include "engine/rules/run_reading.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdlib>

namespace mantissa {
namespace {

constexpr std::string_view kDebugFlags = "src/lightning/pytorch/trainer/setup.py, _init_debugging_flags";
constexpr std::string_view kLoopFile = "src/lightning/pytorch/loops/";

Finding badValue(const Field& flag, const RuleContext& context, std::string_view wanted)
{
    Finding finding = findingAt(Severity::WontStart, Stage::Configure, {flag.path});
    finding.message =
        std::string(flag.label) + " is " + context.at(flag).text() + "; " + std::string(wanted) + ".";
    finding.engine = "same";
    return finding;
}

Fix byDefault(const Field& flag, std::string title)
{
    return changingFix(std::move(title), {unset(flag.path)});
}

void fastDevRunNegative(RuleContext& context)
{
    const Value& value = context.at(field::fastDevRun);
    if (!value.isInteger() || value.asInteger() >= 0)
        return;
    Finding finding = badValue(field::fastDevRun, context, "it takes true, false, or a count from 0");
    finding.why = "The number is how many batches are tried.";
    finding.source = inLightning(std::string(kDebugFlags));
    finding.raises = "MisconfigurationException: fast_dev_run=" + value.text()
        + " is not a valid configuration. It should be >= 0.";
    finding.fixes = {byDefault(field::fastDevRun, "Train in full"),
                     changingFix("Try one batch", {setTo(field::fastDevRun.path, true)})};
    context.report(std::move(finding));
}

/// A share up to 1, or a whole number of batches.
bool isLimit(const Value& value)
{
    if (!value.isNumber())
        return true;
    const double number = value.asDouble();
    return number >= 0.0 && (number <= 1.0 || number == std::floor(number));
}

void checkLimit(RuleContext& context, const Field& flag)
{
    const Value& value = context.at(flag);
    if (isLimit(value))
        return;
    Finding finding = badValue(
        flag, context, "it takes a share from 0.0 to 1.0 or a whole number of batches, and this is neither");
    finding.why = "Up to 1.0 the number is a share of the loader, above it a count of batches.";
    finding.source = inLightning("src/lightning/pytorch/trainer/setup.py, _determine_batch_limits");
    finding.raises = "MisconfigurationException: You have passed invalid value " + value.text() + " for "
        + std::string(flag.label) + ", it has to be in [0.0, 1.0] or an int.";
    if (value.asDouble() > 1.0) {
        const auto whole = static_cast<std::int64_t>(std::min(value.asDouble(), 1e15));
        finding.fixes.push_back(
            changingFix("Take " + std::to_string(whole) + " batches", {setTo(flag.path, Value(whole))}));
    }
    finding.fixes.push_back(byDefault(flag, "Leave it out"));
    context.report(std::move(finding));
}

void limitInvalid(RuleContext& context)
{
    checkLimit(context, field::overfitBatches);
    if (isFastDevRun(context)) // Overwrites the others before they are looked at.
        return;
    for (const Field* flag : {&field::limitTrainBatches, &field::limitValBatches, &field::limitTestBatches,
                              &field::limitPredictBatches, &field::valCheckInterval})
        checkLimit(context, *flag);
}

void reportCount(RuleContext& context, const Field& flag, std::string raises, std::string_view where)
{
    const Value& value = context.at(flag);
    if (!value.isNumber() || value.asDouble() >= -1.0)
        return;
    Finding finding = badValue(flag, context, "it takes a count from 0, or -1 for no limit");
    finding.why = "Of the negative numbers only -1 has a meaning.";
    finding.source = inLightning(std::string(kLoopFile) + std::string(where));
    finding.raises = std::move(raises) + " You passed in " + value.text() + ".";
    finding.fixes = {changingFix("Say -1: no limit", {setTo(flag.path, -1)}),
                     byDefault(flag, "Leave it to the default")};
    context.report(std::move(finding));
}

void maxEpochsNegative(RuleContext& context)
{
    reportCount(context, field::maxEpochs,
                "MisconfigurationException: `max_epochs` must be a non-negative integer or -1.",
                "fit_loop.py, _FitLoop.__init__");
}

void maxStepsNegative(RuleContext& context)
{
    reportCount(context, field::maxSteps,
                "MisconfigurationException: `max_steps` must be a non-negative integer or -1 (infinite "
                "steps).",
                "training_epoch_loop.py, _TrainingEpochLoop.__init__");
}

void maxEpochsFraction(RuleContext& context)
{
    const Value& value = context.at(field::maxEpochs);
    if (!value.isDouble() || value.asDouble() < -1.0 || isFastDevRun(context) || !startsLoop(context))
        return;
    Finding finding = badValue(field::maxEpochs, context, "epochs are counted in whole numbers");
    finding.stage = Stage::FitStart;
    finding.why = "Nothing checks it when the Trainer is made; an assertion without words stops the loop.";
    finding.source = inLightning(std::string(kLoopFile) + "fit_loop.py, _FitLoop.done");
    finding.raises = "AssertionError: assert isinstance(self.max_epochs, int)";
    const auto up = static_cast<std::int64_t>(std::ceil(std::min(value.asDouble(), 1e15)));
    finding.fixes = {
        changingFix("Train " + std::to_string(up) + " epochs", {setTo(field::maxEpochs.path, Value(up))})};
    context.report(std::move(finding));
}

void accumulateUnchecked(RuleContext& context)
{
    const Value& value = context.at(field::accumulate);
    const bool zero = value.isNumber() && value.asDouble() == 0.0;
    const bool noNumber = value.isString() || value.isList() || value.isMap() || value.isNull();
    if ((!zero && !noNumber) || !startsLoop(context) || !isAutomatic(context))
        return;
    const std::string type = value.isString() ? "str"
        : value.isList()                      ? "list"
        : value.isMap()                       ? "dict"
                                              : "NoneType";
    Finding finding =
        badValue(field::accumulate, context, "a window has a whole number of micro batches from 1");
    finding.stage = Stage::FitStart;
    finding.why = "The Trainer takes any value; the loop then divides the batch's number by it.";
    finding.source = inLightning(std::string(kLoopFile) + "optimization/automatic.py, _make_zero_grad_fn");
    finding.raises = zero ? "ZeroDivisionError: integer modulo by zero"
                          : "TypeError: unsupported operand type(s) for %: 'int' and '" + type + "'";
    if (value.isMap())
        finding.fixes.push_back(
            changingFix("Schedule it by the callback",
                        {unset(field::accumulate.path), setTo(field::accumulationSchedule.path, value)}));
    finding.fixes.push_back(byDefault(field::accumulate, "Step after every batch"));
    context.report(std::move(finding));
}

void clipValueType(RuleContext& context)
{
    const Value& value = context.at(field::clipValue);
    if (!value.isString() && !value.isList() && !value.isMap())
        return;
    Finding finding =
        badValue(field::clipValue, context, "a threshold is a number without quotes or brackets");
    finding.why = "The type is looked at when the Trainer is made; nothing is converted.";
    finding.source = inLightning("src/lightning/pytorch/trainer/trainer.py, Trainer.__init__");
    finding.raises = "TypeError: `gradient_clip_val` should be an int or a float. Got " + value.text() + ".";
    const std::string text =
        value.isList() && value.asList().size() == 1 ? value.asList().front().text() : value.asString();
    char* end = nullptr;
    const double number = std::strtod(text.c_str(), &end);
    if (!text.empty() && *end == '\0' && std::isfinite(number))
        finding.fixes.push_back(safeFix("Write the number " + text, {setTo(field::clipValue.path, number)}));
    finding.fixes.push_back(byDefault(field::clipValue, "Do not clip"));
    context.report(std::move(finding));
}

void clipAlgorithmUnknown(RuleContext& context)
{
    const Value& value = context.at(field::clipAlgorithm);
    const std::string name = value.asString();
    const auto is = [&](std::string_view word) {
        return name.size() == word.size()
            && std::equal(name.begin(), name.end(), word.begin(),
                          [](char a, char b) { return std::tolower(static_cast<unsigned char>(a)) == b; });
    };
    if (!value.isSet() || is("norm") || is("value"))
        return;
    Finding finding = badValue(field::clipAlgorithm, context, "gradients are clipped by norm or by value");
    finding.why = "The name is looked up when the Trainer is made, whether anything is clipped or not.";
    finding.source = inLightning("src/lightning/pytorch/trainer/trainer.py, Trainer.__init__");
    finding.raises = "MisconfigurationException: `gradient_clip_algorithm` " + value.text()
        + " is invalid. Allowed algorithms: ['value', 'norm'].";
    finding.fixes = {changingFix("By norm, the default", {setTo(field::clipAlgorithm.path, "norm")}),
                     changingFix("By value", {setTo(field::clipAlgorithm.path, "value")})};
    context.report(std::move(finding));
}

void benchmarkType(RuleContext& context)
{
    const Value& value = context.at(field::benchmark);
    if (!value.isString() && !value.isNumber())
        return;
    Finding finding = badValue(field::benchmark, context, "it takes true, false, or nothing");
    finding.why = "The value goes to cuDNN's switch as it is, and that accepts nothing but a bool.";
    finding.source = inLightning("src/lightning/pytorch/trainer/connectors/accelerator_connector.py, "
                                 "_set_torch_flags");
    finding.raises = std::string("RuntimeError: set_benchmark_cudnn expects a bool, but got ")
        + (value.isString()        ? "str"
               : value.isInteger() ? "int"
                                   : "float");
    finding.fixes = {changingFix("Switch it on", {setTo(field::benchmark.path, true)}),
                     byDefault(field::benchmark, "Leave it to the default")};
    context.report(std::move(finding));
}

void deterministicUnknown(RuleContext& context)
{
    const Value& value = context.at(field::deterministic);
    if (!value.isString() || value.asString() == "warn")
        return;
    Finding finding = badValue(field::deterministic, context, "only true, false and warn have a meaning");
    finding.severity = Severity::Differs;
    finding.message += " Algorithms stay as they are: nothing is made deterministic.";
    finding.why = "Any other text is passed over without a word.";
    finding.source = inLightning("src/lightning/pytorch/trainer/connectors/accelerator_connector.py, "
                                 "_set_torch_flags");
    finding.engine = "better: a run of one seed always gives the same bits";
    finding.fixes = {
        changingFix("Refuse what is not deterministic", {setTo(field::deterministic.path, true)}),
        changingFix("Warn of what is not deterministic", {setTo(field::deterministic.path, "warn")})};
    context.report(std::move(finding));
}

void reloadInvalid(RuleContext& context)
{
    const Value& value = context.at(field::reloadDataloaders);
    if (!value.isSet() || value.isBool() || (value.isInteger() && value.asInteger() >= 0))
        return;
    Finding finding =
        badValue(field::reloadDataloaders, context, "it takes a whole number of epochs, 0 for never");
    finding.why = "Loaders are made anew at the start of every so many epochs.";
    finding.source =
        inLightning("src/lightning/pytorch/trainer/connectors/data_connector.py, on_trainer_init");
    finding.raises =
        "MisconfigurationException: `reload_dataloaders_every_n_epochs` should be an int >= 0, got "
        + value.text() + ".";
    finding.fixes = {byDefault(field::reloadDataloaders, "Never reload"),
                     changingFix("Reload every epoch", {setTo(field::reloadDataloaders.path, 1)})};
    context.report(std::move(finding));
}

constexpr std::array kRules = {
    Rule{"flag-fast-dev-run", kOfTrainer, {"2.0"}, fastDevRunNegative},
    Rule{"flag-batch-limit", kOfTrainer, {"2.0"}, limitInvalid},
    Rule{"flag-max-epochs", kOfTrainer, {"2.0"}, maxEpochsNegative},
    Rule{"flag-max-steps", kOfTrainer, {"2.0"}, maxStepsNegative},
    Rule{"flag-max-epochs-fraction", kOfTrainer, {"2.0"}, maxEpochsFraction},
    Rule{"flag-accumulation", kOfTrainer, {"2.0"}, accumulateUnchecked},
    Rule{"flag-clip-value", kOfTrainer, {"2.0"}, clipValueType},
    Rule{"flag-clip-algorithm", kOfTrainer, {"2.0"}, clipAlgorithmUnknown},
    Rule{"flag-benchmark", kOfTrainer, {"2.0"}, benchmarkType},
    Rule{"flag-deterministic", kOfTrainer, {"2.0"}, deterministicUnknown},
    Rule{"flag-reload", kOfTrainer, {"2.0"}, reloadInvalid},
};

} // namespace

std::span<const Rule> flagRules()
{
    return kRules;
}

} // namespace mantissa
