#include "engine/train/prepared_run.h"

#include "engine/checkpoint/safetensors.h"
#include "engine/core/counted.h"
#include "engine/tensor/allocation.h"
#include "engine/tensor/guarded_torch.h"
#include "engine/tensor/threads.h"

#include <algorithm>

namespace mantissa {
namespace {

Result<InitialTensors> readInitial(const RunPlan& plan, const std::string& file)
{
    const auto tensors = readSafetensors(file);
    if (!tensors)
        return tensors.error();
    return initialTensors(plan, *tensors, file);
}

std::int64_t jointRows(const RunPlan& plan)
{
    return std::holds_alternative<TracePlan>(plan.data) ? plan.batchSize : plan.batchSize * plan.ranks;
}

Result<Sampler> makeSampler(const RunPlan& plan, const DataSet& data)
{
    Sampler::Plan sampling{data.size(),       jointRows(plan), plan.ranks,
                           plan.limitBatches, plan.seed,       data.shuffles()};
    if (const auto* trace = std::get_if<TracePlan>(&plan.data); trace && trace->batchesPerEpoch > 0)
        sampling.limitBatches = trace->batchesPerEpoch;
    if (sampling.jointBatch % plan.ranks != 0)
        return Error{ErrorCode::InvalidSetup,
                     "A joint batch of " + counted(sampling.jointBatch, "row") + " cannot be split over "
                         + counted(plan.ranks, "rank") + ".",
                     "Use a number of ranks that divides it."};
    const Sampler sampler(sampling);
    if (sampler.batchesPerEpoch() < 1)
        return Error{ErrorCode::InvalidSetup,
                     "An epoch has no batch: the data has " + counted(data.size(), "sample")
                         + ", and the ranks take " + std::to_string(sampling.jointBatch) + " together.",
                     "Lower data.init_args.batch_size or raise trainer.limit_train_batches."};
    return sampler;
}

} // namespace

std::int64_t accumulateAt(const RunPlan& plan, std::int64_t epoch)
{
    std::int64_t batches = 1;
    for (const auto& [from, count] : plan.accumulate) {
        if (from <= epoch)
            batches = count;
    }
    return std::max<std::int64_t>(batches, 1);
}

WeightSource weightSource(const PreparedRun& prepared)
{
    if (!prepared.weights.empty())
        return [&prepared](std::size_t index) { return prepared.weights[index]; };
    const auto drawer = std::make_shared<WeightDrawer>(prepared.plan.model, prepared.plan.seed);
    return [drawer](std::size_t) { return drawer->next(); };
}

Result<std::shared_ptr<PreparedRun>> prepareRun(const RunPlan& plan, const std::filesystem::path& checkpoint)
{
    return guardedTorch("preparing the run", [&]() -> Result<std::shared_ptr<PreparedRun>> {
        useThreads(plan.threadsPerRank);
        keepFreedMemory();
        auto data = openDataSet(plan);
        if (!data)
            return data.error();
        const auto sampler = makeSampler(plan, **data);
        if (!sampler)
            return sampler.error();
        const DataPlace place{(*data)->size(), jointRows(plan)};
        std::optional<StoredTraining> from;
        InitialTensors initial;
        const auto* trace = std::get_if<TracePlan>(&plan.data);
        if (!checkpoint.empty()) {
            auto stored = readTraining(plan, checkpoint);
            if (!stored)
                return stored.error();
            initial = std::move(stored->initial);
            from = *std::move(stored);
        } else if (trace && !trace->initFile.empty()) {
            auto read = readInitial(plan, trace->initFile);
            if (!read)
                return read.error();
            initial = *std::move(read);
        }
        return std::make_shared<PreparedRun>(plan, std::move(initial),
                                             std::make_unique<Loader>(*std::move(data), *sampler, plan.ranks),
                                             place, std::move(from));
    });
}

std::int64_t totalSteps(const PreparedRun& prepared)
{
    std::int64_t steps = 0;
    const std::int64_t batches = prepared.loader->batchesPerEpoch();
    for (std::int64_t epoch = 0; epoch < prepared.plan.maxEpochs; ++epoch) {
        const std::int64_t window = accumulateAt(prepared.plan, epoch);
        steps += (batches + window - 1) / window;
        if (prepared.plan.maxSteps >= 0 && steps >= prepared.plan.maxSteps)
            return prepared.plan.maxSteps;
    }
    return steps;
}

void closeData(PreparedRun& prepared)
{
    prepared.loader->close("the run was stopped");
}

} // namespace mantissa
