#include "engine/recipe/fields.h"
#include "engine/rules/callback_reading.h"
#include "engine/rules/making.h"
#include "engine/rules/metric_reading.h"
#include "engine/rules/reading.h"

#include <algorithm>
#include <array>

namespace mantissa {
namespace {

constexpr std::string_view kSwa = "StochasticWeightAveraging";
constexpr std::array<std::string_view, 2> kAverages = {"WeightAveraging", "EMAWeightAveraging"};
constexpr const char* kSwaFile = "stochastic_weight_avg";

std::string averageName(const RuleContext& context)
{
    for (const std::string_view name : kAverages) {
        if (hasCallback(context, name))
            return std::string(name);
    }
    return {};
}

bool isShardedAtRest(const RuleContext& context)
{
    const StrategyReading strategy = readStrategy(context);
    if (strategy.family == StrategyFamily::Fsdp)
        return true;
    const std::int64_t stage = context.at(field::strategy)["init_args"]["stage"].asInteger(2);
    return strategy.family == StrategyFamily::DeepSpeed
        && (strategy.name.find("stage_3") != std::string::npos || (!strategy.isAlias && stage == 3));
}

Fix replicate()
{
    return changingFix("Replicate with DDP", {setTo(field::strategy.path, "ddp")},
                       "Every rank then holds the whole model and the whole optimizer state.");
}

void swaSharded(RuleContext& context)
{
    const StrategyReading strategy = readStrategy(context);
    const bool sharded =
        strategy.family == StrategyFamily::Fsdp || strategy.family == StrategyFamily::DeepSpeed;
    if (!hasCallback(context, kSwa) || !sharded || !isUsed(context))
        return;
    Finding finding =
        findingAt(Severity::WontStart, Stage::Setup,
                  {std::string(field::callbacks.path) + "[" + std::string(kSwa) + "]", field::strategy.path});
    finding.message = "StochasticWeightAveraging is used with " + strategy.name + ", which shards the model.";
    finding.why =
        "It keeps a copy of the whole model, made with deepcopy before the model is sharded. All stages of "
        "DeepSpeed are refused, also those that keep the weights whole, and so are validate and test.";
    finding.source = inCallback(kSwaFile, "setup");
    finding.engine = "cannot";
    finding.raises = "MisconfigurationException: SWA does not currently support sharded models.";
    finding.fixes = {withoutCallback(kSwa, "Leave the averaging out"), replicate()};
    context.report(std::move(finding));
}

bool isRate(const Value& value)
{
    return value.isDouble() && value.asDouble() > 0.0;
}

/// What the value was surely meant to be; absent where that is unclear.
Value meantRates(const Value& rates)
{
    if (rates.isInteger() && rates.asInteger() > 0)
        return Value(rates.asDouble());
    ValueList good;
    for (const Value& rate : rates.asList()) {
        if (!rate.isNumber() || rate.asDouble() <= 0.0)
            return {};
        good.emplace_back(rate.asDouble());
    }
    return good.empty() ? Value() : Value(std::move(good));
}

void swaRates(RuleContext& context)
{
    for (const auto& swa : callbacksNamed(context, kSwa)) {
        const Value& rates = swa["swa_lrs"];
        const auto& list = rates.asList();
        if (isRate(rates) || rates.isAbsent()
            || (rates.isList() && std::all_of(list.begin(), list.end(), isRate)))
            continue;
        Finding finding = swa.refused("swa_lrs", "__init__");
        finding.source = inCallback(kSwaFile, "__init__");
        finding.message = "swa_lrs is " + rates.text()
            + "; it takes a number with a decimal point above 0, or a list "
              "of such numbers.";
        finding.why =
            "The type is looked at, not only the value: the whole number 1 is refused, 1.0 is taken.";
        finding.engine = "better: takes whole numbers too";
        finding.raises =
            "MisconfigurationException: The `swa_lrs` should a positive float, or a list of positive floats";
        if (const Value meant = meantRates(rates); meant.isSet()) {
            finding.fixes.push_back(swa.with("swa_lrs", meant, "Write it with a decimal point"));
            finding.fixes.back().grade = FixGrade::Safe;
        }
        finding.fixes.push_back(swa.with("swa_lrs", 0.01, "A rate of 0.01"));
        finding.fixes.push_back(swa.without("Leave the averaging out"));
        context.report(std::move(finding));
    }
}

void swaStartRange(RuleContext& context)
{
    for (const auto& swa : callbacksNamed(context, kSwa)) {
        const Value& start = swa["swa_epoch_start"];
        const bool good = start.isInteger()
            ? start.asInteger() >= 1
            : !start.isDouble() || (start.asDouble() >= 0.0 && start.asDouble() <= 1.0);
        if (good)
            continue;
        Finding finding = swa.refused("swa_epoch_start", "__init__");
        finding.source = inCallback(kSwaFile, "__init__");
        finding.message = "swa_epoch_start is " + start.text()
            + "; it takes an epoch from 1 on, or a share between 0.0 and 1.0.";
        finding.why = "A whole number counts epochs, one with a decimal point is a share of all epochs.";
        finding.raises =
            "MisconfigurationException: swa_epoch_start should be a >0 integer or a float between 0 and 1.";
        finding.fixes = {swa.byDefault("swa_epoch_start", "The last fifth, as by default"),
                         swa.with("swa_epoch_start", 1, "From the first epoch on")};
        context.report(std::move(finding));
    }
}

void swaDevice(RuleContext& context)
{
    for (const auto& swa : callbacksNamed(context, kSwa)) {
        const Value& device = swa["device"];
        if (!device.isSet() || device.isString() || device.isMap())
            continue;
        Finding finding = swa.refused("device", "__init__");
        finding.source = inCallback(kSwaFile, "__init__");
        finding.message = "device is " + device.text() + "; it takes a name such as cpu or cuda:0.";
        finding.why = "It says where the copy of the model is kept.";
        finding.raises = "MisconfigurationException: device is expected to be a torch.device or a str. Found "
            + device.text();
        finding.fixes = {swa.with("device", "cpu", "Keep it in main memory"),
                         swa.byDefault("device", "As by default: on the CPU")};
        context.report(std::move(finding));
    }
}

void swaStartWithoutEnd(RuleContext& context)
{
    for (const auto& swa : callbacksNamed(context, kSwa)) {
        const Value& start = swa["swa_epoch_start"];
        if (!fits(context) || hasLastEpoch(context) || start.isInteger())
            continue;
        Finding finding = findingAt(Severity::WontStart, Stage::Setup,
                                    {swa.path("swa_epoch_start"), field::maxEpochs.path});
        finding.message = "The averaging starts after the share "
            + (start.isSet() ? start.text() : std::string("0.8"))
            + " of all epochs, and their number has no limit.";
        finding.why = "Where max_steps or max_time ends the run, max_epochs becomes -1, and a share of it "
                      "means nothing.";
        finding.source = inCallback(kSwaFile, "on_fit_start");
        finding.engine = "same";
        finding.raises =
            "MisconfigurationException: SWA with `swa_epoch_start` as a float is not supported when "
            "`max_epochs=-1`.";
        finding.fixes = {swa.with("swa_epoch_start", 1, "Start in the first epoch"),
                         changingFix("Limit the epochs", {setTo(field::maxEpochs.path, 10)}),
                         swa.without("Leave the averaging out")};
        context.report(std::move(finding));
    }
}

void swaOneOptimizer(RuleContext& context)
{
    const Value& optimizers = context.at(field::numOptimizers);
    const Value& schedules = context.at(field::numSchedules);
    const bool wrong = optimizers.isInteger() && optimizers.asInteger() != 1;
    if (!hasCallback(context, kSwa) || !fits(context) || (!wrong && schedules.asInteger() < 2))
        return;
    Finding finding = findingAt(Severity::WontStart, Stage::Setup,
                                {wrong ? field::numOptimizers.path : field::numSchedules.path,
                                 std::string(field::callbacks.path) + "[" + std::string(kSwa) + "]"});
    finding.message = wrong
        ? "StochasticWeightAveraging works with one optimizer, and the module has " + optimizers.text() + "."
        : "StochasticWeightAveraging works with one schedule, and the module has " + schedules.text() + ".";
    finding.why = "When the averaging starts it puts a schedule of its own in the place of the one there is.";
    finding.source = inCallback(kSwaFile, "on_fit_start");
    finding.engine = "cannot";
    finding.raises = wrong
        ? "MisconfigurationException: SWA currently works with 1 `optimizer`."
        : "MisconfigurationException: SWA currently not supported for more than 1 `lr_scheduler`.";
    finding.fixes = {withoutCallback(kSwa, "Leave the averaging out")};
    context.report(std::move(finding));
}

/// After the last epoch one more passes over the data, without gradients, to measure the batch statistics.
bool hasExtraEpoch(RuleContext& context)
{
    const auto swa = callbacksNamed(context, kSwa);
    const auto epochs = lastEpoch(context);
    if (swa.empty() || !epochs || !takesSteps(context) || isTrialRun(context)
        || context.at(field::maxSteps).asInteger(-1) != -1 || !context.at(field::hasBatchnorm).asBool())
        return false;
    const Value& start = swa.front()["swa_epoch_start"];
    return (start.isInteger() ? start.asInteger() <= *epochs : true) && isAutomatic(context);
}

void swaClipByValue(RuleContext& context)
{
    if (!hasCallback(context, kSwa))
        return;
    const ClipReading clip = readClip(context);
    if (!clip.active || clip.byNorm || !hasExtraEpoch(context))
        return;
    Finding finding =
        findingAt(Severity::Stops, Stage::Clip,
                  {clip.path, std::string(field::callbacks.path) + "[" + std::string(kSwa) + "]"});
    finding.message = "Clipping by value with " + clip.text
        + " meets no gradients in the extra epoch of StochasticWeightAveraging.";
    finding.why =
        "With batch normalisation the averaged model passes over the data once more to measure its "
        "statistics. That epoch has no backward pass, but it clips; clipping by norm bears an empty list of "
        "gradients, clipping by value does not.";
    finding.source = inTorch("torch/nn/utils/clip_grad.py, clip_grad_value_");
    finding.engine = "better: measures the statistics without clipping";
    finding.raises = "RuntimeError: Expected !nested_tensorlist[0].empty() to be true, but got false.";
    finding.fixes = {
        changingFix(
            "Clip by norm",
            {clip.algorithmPath.empty() ? unset(field::clipAlgorithm.path) : unset(clip.algorithmPath)},
            "The threshold has another meaning."),
        withoutCallback(kSwa, "Leave the averaging out"),
    };
    context.report(std::move(finding));
}

void swaScaler(RuleContext& context)
{
    if (!hasCallback(context, kSwa))
        return;
    const PrecisionReading precision = readPrecision(context);
    if (!precision.hasScaler || readDevice(context) != DeviceKind::Cuda || !hasExtraEpoch(context))
        return;
    Finding finding =
        findingAt(Severity::Stops, Stage::Optimizer,
                  {precision.path, std::string(field::callbacks.path) + "[" + std::string(kSwa) + "]"});
    finding.message = "The loss scaler of " + precision.effective
        + " sees no gradients in the extra epoch of StochasticWeightAveraging.";
    finding.why = "With batch normalisation the averaged model passes over the data once more to measure its "
                  "statistics. That epoch has no backward pass, but the scaler is asked to step.";
    finding.source = inTorch("torch/amp/grad_scaler.py, GradScaler.step");
    finding.engine = "better: measures the statistics without a step";
    finding.raises = "AssertionError: No inf checks were recorded for this optimizer.";
    finding.fixes = {changingFix("Use bf16-mixed, which has no scaler",
                                 {setTo(precision.settingPath, "bf16-mixed")},
                                 "Eight bits of precision instead of eleven, with the range of float32."),
                     withoutCallback(kSwa, "Leave the averaging out")};
    context.report(std::move(finding));
}

void averageInHalf(RuleContext& context)
{
    if (!hasCallback(context, "WeightAveraging") || !takesSteps(context))
        return;
    const PrecisionReading precision = readPrecision(context);
    const StrategyFamily family = readStrategy(context).family;
    const bool wrapped = family == StrategyFamily::DeepSpeed || family == StrategyFamily::Fsdp;
    if (wrapped || (precision.effective != "16-true" && precision.effective != "bf16-true"))
        return;
    Finding finding = findingAt(Severity::Stops, Stage::Optimizer,
                                {precision.path, std::string(field::callbacks.path) + "[WeightAveraging]"});
    finding.message =
        "WeightAveraging keeps its average in 32 bits, and the weights are in " + precision.effective + ".";
    finding.why =
        "The average is copied from the module before its weights are converted. Its first update, after the "
        "first step, mixes the two types. EMAWeightAveraging does its sums in another way and works.";
    finding.source = inCallback("weight_averaging", "on_train_batch_end");
    finding.engine = "cannot";
    finding.raises = "RuntimeError: Tensors of the same index must be on the same device and the same dtype";
    const std::string mixed = precision.effective == "16-true" ? "16-mixed" : "bf16-mixed";
    finding.fixes = {
        changingFix("Keep the weights in 32 bits: " + mixed, {setTo(precision.settingPath, mixed)},
                    "Weights and optimizer state take twice the memory."),
        withoutCallback("WeightAveraging", "Leave the averaging out"),
    };
    context.report(std::move(finding));
}

void averageSharded(RuleContext& context)
{
    const std::string name = averageName(context);
    if (name.empty() || !isShardedAtRest(context) || whenValidates(context) == Validates::Never)
        return;
    Finding finding =
        findingAt(Severity::WontStart, Stage::FitStart,
                  {std::string(field::callbacks.path) + "[" + name + "]", field::strategy.path});
    finding.message = name + " swaps its average with the model to validate, and "
        + readStrategy(context).name + " shards the model.";
    finding.why =
        "The average is a copy of the whole model, a rank's weights are its shards: their sizes differ. "
        "Nobody checks it before.";
    finding.source = inCallback("weight_averaging", "_swap_models");
    finding.engine = "better: averages each rank's shards";
    finding.raises =
        "RuntimeError: The size of tensor a must match the size of tensor b at non-singleton dimension 0";
    finding.fixes = {withoutCallback(name, "Leave the averaging out"), replicate()};
    context.report(std::move(finding));
}

void averageModelParallel(RuleContext& context)
{
    const std::string name = averageName(context);
    if (name.empty() || readStrategy(context).family != StrategyFamily::ModelParallel || !fits(context)
        || !otherFact(context, "parallelize").isSet())
        return;
    Finding finding =
        findingAt(Severity::WontStart, Stage::Setup,
                  {std::string(field::callbacks.path) + "[" + name + "]", field::strategy.path});
    finding.message = name + " copies the model, which fully_shard has taken apart.";
    finding.why = "A module that was sharded by torch's fully_shard refuses to be copied.";
    finding.source = inCallback("weight_averaging", "setup");
    finding.engine = "better: averages each rank's shards";
    finding.raises =
        "AssertionError: FSDP does not support deepcopy. Please use state dict for serialization.";
    finding.fixes = {withoutCallback(name, "Leave the averaging out"), replicate()};
    context.report(std::move(finding));
}

constexpr std::array kRules = {
    Rule{"swa-sharded", kOfTrainer, {"2.0"}, swaSharded},
    Rule{"swa-rates", kOfTrainer, {"2.0"}, swaRates},
    Rule{"swa-start-range", kOfTrainer, {"2.0"}, swaStartRange},
    Rule{"swa-device", kOfTrainer, {"2.0"}, swaDevice},
    Rule{"swa-start-without-end", kOfTrainer, {"2.0"}, swaStartWithoutEnd},
    Rule{"swa-one-optimizer", kOfTrainer, {"2.0"}, swaOneOptimizer},
    Rule{"swa-clip-by-value", kOfTrainer, {"2.0"}, swaClipByValue},
    Rule{"swa-scaler", kOfTrainer, {"2.0"}, swaScaler},
    Rule{"average-in-half", kOfTrainer, {"2.6"}, averageInHalf},
    Rule{"average-sharded", kOfTrainer, {"2.6"}, averageSharded},
    Rule{"average-model-parallel", kOfTrainer, {"2.6"}, averageModelParallel},
};

} // namespace

std::span<const Rule> averagingRules()
{
    return kRules;
}

} // namespace mantissa
