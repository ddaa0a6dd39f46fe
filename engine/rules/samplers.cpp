#include "engine/recipe/fields.h"
#include "engine/rules/making.h"
#include "engine/rules/run_reading.h"

#include <algorithm>
#include <array>

namespace mantissa {
namespace {

/// A way in which a user's own sampler or loader cannot be given the sampler that shares the data.
struct Misfit {
    std::string_view sampler; ///< The fact's value.
    const char* message;
    const char* raises;
    const char* where;
    const char* repair;
};

constexpr const char* kPytorchData = "src/lightning/pytorch/utilities/data.py, ";

constexpr std::array kMisfits = {
    Misfit{
        "custom-batch-sampler", "The loader's batch sampler has no argument named sampler.",
        "TypeError: Trying to inject a modified sampler into the batch sampler; however, it seems the class",
        "_dataloader_init_kwargs_resolve_sampler",
        "class MyBatchSampler(BatchSampler):\n    def __init__(self, sampler, batch_size, drop_last): ..."},
    Misfit{"foreign-batch-sampler", "The loader's batch sampler is not derived from torch's BatchSampler.",
           "TypeError: Lightning can't inject a (distributed) sampler into your batch sampler, because it "
           "doesn't "
           "subclass PyTorch's `BatchSampler`.",
           "_dataloader_init_kwargs_resolve_sampler",
           "class MyBatchSampler(torch.utils.data.BatchSampler): ..."},
    Misfit{"loader-hides-arguments",
           "The loader's class keeps its own arguments to itself, so it cannot be made again.",
           "MisconfigurationException: Trying to inject custom `Sampler` into the",
           "_get_dataloader_init_args_and_kwargs",
           "def __init__(self, factor, *args, **kwargs):\n    self.factor = factor  # each argument under "
           "its name"},
    Misfit{"loader-fixed-arguments", "The loader's class does not pass on the arguments of DataLoader.",
           "MisconfigurationException: Trying to inject parameters into the",
           "_get_dataloader_init_args_and_kwargs",
           "def __init__(self, *args, **kwargs):\n    super().__init__(*args, **kwargs)"},
    Misfit{"loader-duplicate-argument",
           "The loader's class gives DataLoader an argument twice when it is made again.",
           "MisconfigurationException: The LoaderDuplicateArgument implementation has an error where more "
           "than one "
           "`__init__` argument",
           "_reinstantiate_wrapped_cls",
           "def __init__(self, *args, **kwargs):\n    kwargs.setdefault(\"batch_size\", 8)\n"
           "    super().__init__(*args, **kwargs)"},
    Misfit{"no-length", "The loader's sampler has no length.",
           "TypeError: You seem to have configured a sampler in your DataLoader which does not provide "
           "`__len__` method.",
           "DistributedSamplerWrapper.__init__", "def __len__(self):\n    return number_of_samples"},
};

bool isInjected(const RuleContext& context)
{
    return isCalled(context) && isParallel(context) && context.at(field::useDistributedSampler).asBool(true)
        && !context.at(field::dataIterable).asBool();
}

void cannotBeShared(RuleContext& context)
{
    const std::string sampler = context.at(field::dataSampler).asString();
    const auto misfit = std::find_if(kMisfits.begin(), kMisfits.end(),
                                     [&](const Misfit& entry) { return entry.sampler == sampler; });
    if (misfit == kMisfits.end() || !isInjected(context) || (fits(context) && !startsLoop(context)))
        return;
    Finding finding =
        findingAt(Severity::WontStart, Stage::FitStart,
                  {field::dataSampler.path, field::useDistributedSampler.path, field::strategy.path});
    finding.message = std::string(misfit->message) + " Under " + readStrategy(context).name
        + " it is to be replaced, so that each process gets its share of the data.";
    finding.why =
        "The loader is made a second time from the arguments of the first, with a distributed sampler in "
        "place of its own or around it. That happens with a single process too.";
    finding.source = inLightning(std::string(kPytorchData) + misfit->where);
    finding.engine = "better: the engine's own loaders share their data in any order";
    finding.raises = misfit->raises;
    finding.fixes = {changingFix("Share the data yourself", {setTo(field::useDistributedSampler.path, false)},
                                 "Then the sampler must give each rank another part; otherwise all ranks "
                                 "train on the same samples."),
                     manualFix("Let it be made again", misfit->repair)};
    context.report(std::move(finding));
}

void noLengthInPredict(RuleContext& context)
{
    const Value& length = factAt(context, "data.dataset_has_len");
    if (!length.isBool() || length.asBool() || context.at(field::runFn).asString() != "predict"
        || !isInjected(context))
        return;
    Finding finding = findingAt(Severity::WontStart, Stage::FitStart,
                                {"mantissa.facts.data.dataset_has_len", field::strategy.path});
    finding.message = "predict is to share a data set without a length over the processes of "
        + readStrategy(context).name + ".";
    finding.why =
        "In predict no sample may come twice, so each process must know exactly how many are its own.";
    finding.source =
        inLightning("src/lightning/pytorch/overrides/distributed.py, UnrepeatedDistributedSampler");
    finding.engine = "cannot";
    finding.raises = "TypeError: object of type 'Dataset' has no len()";
    finding.fixes = {
        manualFix("Give it a length", "def __len__(self):\n    return number_of_samples"),
        changingFix("Predict with one device",
                    {setTo(field::strategy.path, "auto"), setTo(field::devices.path, 1)}),
        changingFix("Share the data yourself", {setTo(field::useDistributedSampler.path, false)})};
    context.report(std::move(finding));
}

/// Batch normalisation over one sample has no variance to divide by.
void oneSampleBatch(RuleContext& context)
{
    const Value& batch = factAt(context, "data.batch_size");
    const auto batches = loaderBatches(context);
    if (!context.at(field::hasBatchnorm).asBool() || !batch.isInteger() || !batches || *batches < 1
        || !startsLoop(context) || (context.at(field::syncBatchnorm).asBool() && isParallel(context)))
        return;
    const std::int64_t processes =
        isParallel(context) && context.at(field::useDistributedSampler).asBool(true)
        ? processCount(context).value_or(1)
        : 1;
    const std::int64_t samples = (context.at(field::dataLength).asInteger() + processes - 1) / processes;
    const bool every = batch.asInteger() == 1;
    const bool last = samples % batch.asInteger() == 1 && !factAt(context, "data.drop_last").asBool();
    const Value& limit = context.at(field::limitTrainBatches);
    const bool cut = isFastDevRun(context) || isOverfitting(context)
        || (limit.isDouble() && limit.asDouble() < 1.0) || (limit.isInteger() && limit.asInteger() < *batches)
        || context.at(field::maxSteps).asInteger(-1) >= 0;
    if (!every && (!last || cut))
        return;
    Finding finding = findingAt(Severity::Stops, Stage::Forward,
                                {every ? "mantissa.facts.data.batch_size" : "mantissa.facts.data.drop_last",
                                 field::hasBatchnorm.path});
    finding.message = every
        ? "The module has batch normalisation, and a batch has one sample."
        : "The module has batch normalisation, and the last batch of an epoch has one sample.";
    finding.why = "The variance over a batch of one is no variance; torch refuses it in training.";
    finding.source = inTorch("torch/nn/functional.py, _verify_batch_size");
    finding.engine = "cannot";
    finding.raises = "ValueError: Expected more than 1 value per channel when training, got input size";
    finding.fixes = {
        every ? changingFix("Batches of two", {setTo("mantissa.facts.data.batch_size", 2)},
                            "This changes what is known of the loader; the loader must be changed too.")
              : changingFix("Leave the last batch out", {setTo("mantissa.facts.data.drop_last", true)},
                            "In the loader: DataLoader(..., drop_last=True).")};
    context.report(std::move(finding));
}

constexpr std::array kRules = {
    Rule{"sampler-cannot-be-shared", kOfTrainer, {"2.0"}, cannotBeShared},
    Rule{"sampler-predict-length", kOfTrainer, {"2.0"}, noLengthInPredict},
    Rule{"loader-one-sample", kOfTrainer, {"2.0"}, oneSampleBatch},
};

} // namespace

std::span<const Rule> samplerRules()
{
    return kRules;
}

} // namespace mantissa
