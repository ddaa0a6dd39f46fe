#include "engine/recipe/fields.h"
#include "engine/rules/making.h"
#include "engine/rules/run_reading.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace mantissa {
namespace {

std::string entryPoint(const RuleContext& context)
{
    return context.at(field::runFn).asString("fit");
}

std::string factPath(std::string_view name)
{
    return "mantissa.facts." + std::string(name);
}

void combinedUnknown(RuleContext& context)
{
    const Value& mode = factAt(context, "data.combined_loader_mode");
    constexpr std::array<std::string_view, 4> kModes = {"min_size", "max_size_cycle", "max_size",
                                                        "sequential"};
    if (!mode.isString() || !isCalled(context)
        || std::find(kModes.begin(), kModes.end(), mode.asString()) != kModes.end())
        return;
    const std::string path = factPath("data.combined_loader_mode");
    Finding finding = findingAt(Severity::WontStart, Stage::Setup, {path});
    finding.message = "CombinedLoader has no mode \"" + mode.asString() + "\".";
    finding.why = "The mode says what becomes of loaders that end before the others.";
    finding.source =
        inLightning("src/lightning/pytorch/utilities/combined_loader.py, CombinedLoader.__init__");
    finding.engine = "cannot";
    finding.raises = "ValueError: Unsupported mode '" + mode.asString() + "', please select one of:";
    finding.fixes = {
        changingFix("Go on until the longest ends, repeating the others", {setTo(path, "max_size_cycle")}),
        changingFix("Stop when the shortest ends", {setTo(path, "min_size")})};
    context.report(std::move(finding));
}

void combinedSequential(RuleContext& context)
{
    const std::string path = factPath("data.combined_loader_mode");
    if (context.at(path).asString() != "sequential" || !startsLoop(context))
        return;
    const bool deepspeed = readStrategy(context).family == StrategyFamily::DeepSpeed;
    Finding finding =
        findingAt(Severity::WontStart, deepspeed ? Stage::Setup : Stage::FitStart, {path, field::runFn.path});
    finding.message = "fit is given loaders one after the other (CombinedLoader, sequential).";
    finding.why =
        "A training step takes a batch from every loader at the same time; one after the other is for "
        "validation, test and predict.";
    finding.source = inLightning("src/lightning/pytorch/loops/fit_loop.py, _FitLoop.advance");
    finding.engine = "cannot";
    finding.raises = deepspeed
        ? "AttributeError: 'list' object has no attribute 'batch_size'"
        : "ValueError: `_FitLoop` does not support the `CombinedLoader(mode=\"sequential\")` mode.";
    finding.fixes = {
        changingFix("Go on until the longest ends, repeating the others", {setTo(path, "max_size_cycle")}),
        changingFix("Stop when the shortest ends", {setTo(path, "min_size")})};
    context.report(std::move(finding));
}

void combinedInPredict(RuleContext& context)
{
    const std::string path = factPath("data.eval_combined_mode");
    const Value& mode = context.at(path);
    if (!mode.isString() || mode.asString() == "sequential" || entryPoint(context) != "predict")
        return;
    Finding finding = findingAt(Severity::WontStart, Stage::FitStart, {path, field::runFn.path});
    finding.message =
        "predict is given loaders in the mode " + mode.asString() + "; it takes them one after the other.";
    finding.why = "Predictions are kept in a list for each loader.";
    finding.source =
        inLightning("src/lightning/pytorch/loops/prediction_loop.py, _PredictionLoop.setup_data");
    finding.engine = "cannot";
    finding.raises =
        "ValueError: `trainer.predict()` only supports the `CombinedLoader(mode=\"sequential\")` mode.";
    finding.fixes = {changingFix("One after the other", {setTo(path, "sequential")})};
    context.report(std::move(finding));
}

/// A limit that an entry point reads, and the loader that it limits.
struct Limit {
    std::string_view fn;
    const Field* flag;
    std::string_view loader; ///< In Lightning's words.
};
constexpr std::array kLimits = {
    Limit{"fit", &field::limitTrainBatches, "train"},         Limit{"fit", &field::limitValBatches, "val"},
    Limit{"validate", &field::limitValBatches, "val"},        Limit{"test", &field::limitTestBatches, "test"},
    Limit{"predict", &field::limitPredictBatches, "predict"},
};

/// The share that limits a loader; 1.0 where none does.
double shareOf(const RuleContext& context, const Limit& limit)
{
    const bool overfits = isOverfitting(context) && (limit.loader == "train" || limit.loader == "val");
    const Value& value = overfits ? context.at(field::overfitBatches) : context.at(*limit.flag);
    return value.isDouble() && value.asDouble() > 0.0 ? value.asDouble() : 1.0;
}

bool isReached(RuleContext& context, const Limit& limit)
{
    if (isFastDevRun(context) || limit.fn != entryPoint(context))
        return false;
    if (limit.fn != "fit")
        return true;
    return limit.loader == "train" ? startsLoop(context) : validatesInFit(context);
}

void shareOfStream(RuleContext& context)
{
    for (const Limit& limit : kLimits) {
        const double share = shareOf(context, limit);
        if (share >= 1.0 || !isStream(context) || !isReached(context, limit))
            continue;
        const Field& flag = isOverfitting(context) && limit.fn == "fit" ? field::overfitBatches : *limit.flag;
        Finding finding =
            findingAt(Severity::WontStart, Stage::FitStart, {flag.path, field::dataIterable.path});
        finding.message = std::string(flag.label) + "=" + context.at(flag).text()
            + " is a share of data that have no length.";
        finding.why = "A stream can be walked through, and nobody knows when a share of it has passed.";
        finding.source =
            inLightning("src/lightning/pytorch/trainer/connectors/data_connector.py, _parse_num_batches");
        finding.engine = "cannot";
        finding.raises = "MisconfigurationException: When using an `IterableDataset`, `Trainer(limit_"
            + std::string(limit.loader) + "_batches)` must be `1.0` or an int.";
        finding.fixes = {changingFix("Take 100 batches", {setTo(flag.path, 100)}),
                         changingFix("Take the whole stream", {unset(flag.path)})};
        context.report(std::move(finding));
        return;
    }
}

void shareBelowOne(RuleContext& context)
{
    for (const Limit& limit : kLimits) {
        const double share = shareOf(context, limit);
        if (share >= 1.0 || !isReached(context, limit))
            continue;
        const auto batches = loaderBatches(context);
        if (!batches || *batches < 1 || std::floor(static_cast<double>(*batches) * share) >= 1.0)
            continue;
        const Field& flag = isOverfitting(context) && limit.fn == "fit" ? field::overfitBatches : *limit.flag;
        Finding finding =
            findingAt(Severity::WontStart, Stage::FitStart, {flag.path, field::dataLength.path});
        finding.message = std::string(flag.label) + "=" + context.at(flag).text() + " of "
            + std::to_string(*batches) + (*batches == 1 ? " batch" : " batches") + " is less than one batch.";
        finding.why = "A share is rounded down, and nothing would be left.";
        finding.source =
            inLightning("src/lightning/pytorch/trainer/connectors/data_connector.py, _parse_num_batches");
        finding.engine = "same";
        finding.raises = "MisconfigurationException: You requested to check " + context.at(flag).text()
            + " of the `" + std::string(limit.loader) + "_dataloader` but";
        finding.fixes = {changingFix("Take one batch", {setTo(flag.path, 1)}),
                         changingFix("Take all batches", {unset(flag.path)})};
        context.report(std::move(finding));
        return;
    }
}

/// The hooks of a stage see which loader a batch is from, or not.
std::string stageOf(const RuleContext& context)
{
    const std::string fn = entryPoint(context);
    return fn == "fit" || fn == "validate" ? "validation" : fn;
}

bool evaluates(RuleContext& context)
{
    if (entryPoint(context) == "fit")
        return validatesInFit(context);
    return isCalled(context);
}

void loaderNumberMissing(RuleContext& context)
{
    const std::int64_t loaders = factAt(context, "data.source").asString() == "list"
        ? std::max<std::int64_t>(2, factAt(context, "data.num_eval_loaders").asInteger(2))
        : factAt(context, "data.num_eval_loaders").asInteger(1);
    const std::string stage = stageOf(context);
    const Value& signature = factAt(context, "step_signature")[stage];
    const bool plain = signature.asString() == "plain"
        || (signature.isAbsent() && factAt(context, "data.source").asString() == "list");
    if (loaders < 2 || !plain || !evaluates(context))
        return;
    Finding finding = findingAt(Severity::WontStart, Stage::FitStart,
                                {factPath("step_signature." + stage), factPath("data.num_eval_loaders")});
    finding.message = "There are " + std::to_string(loaders) + " " + stage + " loaders, and " + stage
        + "_step does not take dataloader_idx.";
    finding.why =
        "The loaders are run one after the other, and the step must learn which one a batch is from.";
    finding.source =
        inLightning("src/lightning/pytorch/loops/utilities.py, _verify_dataloader_idx_requirement");
    finding.engine = "cannot";
    finding.raises = "RuntimeError: You provided multiple `"
        + std::string(stage == "validation" ? "val" : stage)
        + "_dataloader`, but no `dataloader_idx` argument in";
    finding.fixes = {
        manualFix("Take the number", "def " + stage + "_step(self, batch, batch_idx, dataloader_idx=0):"),
        changingFix("The step takes dataloader_idx=0",
                    {setTo(factPath("step_signature." + stage), "dataloader_idx=0")},
                    "This changes what is known of the module; the module itself must be changed too.")};
    context.report(std::move(finding));
}

void loaderNumberUnused(RuleContext& context)
{
    const std::string stage = stageOf(context);
    const std::string path = factPath("step_signature." + stage);
    if (context.at(path).asString() != "dataloader_idx"
        || factAt(context, "data.num_eval_loaders").asInteger(1) > 1
        || factAt(context, "data.source").asString() == "list" || !evaluates(context))
        return;
    Finding finding = findingAt(Severity::WontStart, Stage::FitStart, {path});
    finding.message = "There is one " + stage + " loader, and " + stage + "_step wants dataloader_idx.";
    finding.why =
        "The number is passed only where there are several loaders; without a default it would be missing.";
    finding.source =
        inLightning("src/lightning/pytorch/loops/utilities.py, _verify_dataloader_idx_requirement");
    finding.engine = "cannot";
    finding.raises = "RuntimeError: You provided only a single `"
        + std::string(stage == "validation" ? "val" : stage)
        + "_dataloader`, but have included `dataloader_idx` in";
    finding.fixes = {
        manualFix("Give it a default", "def " + stage + "_step(self, batch, batch_idx, dataloader_idx=0):")};
    context.report(std::move(finding));
}

void noLoader(RuleContext& context)
{
    const std::string source = factAt(context, "data.source").asString();
    if ((source != "not-a-dataloader" && source != "number") || !isCalled(context))
        return;
    Finding finding = findingAt(Severity::WontStart, Stage::FitStart, {factPath("data.source")});
    finding.message = "What is given as data is "
        + std::string(source == "number" ? "a number" : "no DataLoader")
        + ", and cannot be looped over as one.";
    finding.why = "The loop asks a loader for its sampler and its length, then for batches.";
    finding.source = inLightning("src/lightning/pytorch/utilities/data.py, _is_dataloader_shuffled");
    finding.engine = "cannot";
    finding.raises = source == "number"
        ? "TypeError: An invalid dataloader was passed to"
        : "AttributeError: 'NotADataLoader' object has no attribute 'batch_sampler'";
    finding.fixes = {manualFix("Wrap the data set", "DataLoader(data_set, batch_size=32)")};
    context.report(std::move(finding));
}

/// The batch is inside the iterator, so its size cannot be seen.
void iteratorBatchSize(RuleContext& context)
{
    const std::string path = factPath("step_signature.training");
    const bool logs = !factAt(context, "logs_train").asList().empty();
    if (context.at(path).asString() != "dataloader_iter" || !logs
        || factAt(context, "log_kwargs.batch_size").isSet() || !startsLoop(context))
        return;
    Finding finding = findingAt(Severity::Stops, Stage::Record, {factPath("log_kwargs"), path});
    finding.message = "training_step takes dataloader_iter and logs without batch_size.";
    finding.why = "An average over an epoch weighs each batch by its size. The step takes its batches "
                  "itself, so it alone "
                  "knows how large they are.";
    finding.source = inLightning("src/lightning/pytorch/core/module.py, LightningModule.log");
    finding.engine = "cannot";
    finding.raises =
        "MisconfigurationException: With `def training_step(self, dataloader_iter)`, `self.log(..., "
        "batch_size=...)` should be provided.";
    finding.fixes = {manualFix("Give the size", "self.log(\"train_loss\", loss, batch_size=batch.size(0))")};
    context.report(std::move(finding));
}

constexpr std::array kRules = {
    Rule{"loader-combined-unknown", kOfTrainer, {"2.0"}, combinedUnknown},
    Rule{"loader-combined-sequential", kOfTrainer, {"2.0"}, combinedSequential},
    Rule{"loader-combined-in-predict", kOfTrainer, {"2.0"}, combinedInPredict},
    Rule{"loader-share-of-stream", kOfTrainer, {"2.0"}, shareOfStream},
    Rule{"loader-share-below-one", kOfTrainer, {"2.0"}, shareBelowOne},
    Rule{"loader-number-missing", kOfTrainer, {"2.0"}, loaderNumberMissing},
    Rule{"loader-number-unused", kOfTrainer, {"2.0"}, loaderNumberUnused},
    Rule{"loader-iterator-size", kOfTrainer, {"2.0"}, iteratorBatchSize},
    Rule{"loader-no-loader", kOfTrainer, {"2.0"}, noLoader},
};

} // namespace

std::span<const Rule> loaderRules()
{
    return kRules;
}

} // namespace mantissa
