#include "engine/train/prepared_run.h"

#include "engine/core/counted.h"
#include "engine/strategy/frozen.h"
#include "engine/tensor/allocation.h"
#include "engine/tensor/guarded_torch.h"
#include "engine/tensor/threads.h"
#include "engine/train/initial_weights.h"

#include <algorithm>

namespace mantissa {
namespace {

std::int64_t shareOf(std::int64_t batches, double share)
{
    return static_cast<std::int64_t>(static_cast<double>(batches) * share);
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
    if (plan.limitBatches < 0 && plan.limitShare < 1.0)
        sampling.limitBatches =
            shareOf(sampling.samples / std::max<std::int64_t>(1, sampling.jointBatch), plan.limitShare);
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

/// When to validate on what, in batches.
Result<ValidationRounds> makeRounds(const RunPlan& plan, std::shared_ptr<const DataSet> data,
                                    std::int64_t trainBatches)
{
    ValidationRounds rounds;
    if (!data)
        return rounds;
    const auto& wanted = plan.validation;
    if (data->size() < 1)
        return Error{ErrorCode::InvalidSetup, "No sample is left to validate on.",
                     "Raise data.init_args.val_split, or set it to 0."};
    rounds.set = std::make_shared<ValidationSet>(std::move(data), plan.batchSize, plan.ranks);
    const std::int64_t all = rounds.set->batches();
    rounds.batches =
        wanted.limitBatches >= 0 ? std::min(all, wanted.limitBatches) : shareOf(all, wanted.limitShare);
    if (rounds.batches < 1)
        return Error{ErrorCode::InvalidSetup,
                     "trainer.limit_val_batches leaves nothing of " + std::to_string(all)
                         + " validation batches.",
                     "Raise it, or set it to 0 to validate never."};
    rounds.sanity =
        wanted.sanityBatches < 0 ? rounds.batches : std::min(rounds.batches, wanted.sanityBatches);
    rounds.interval = wanted.everyBatches > 0
        ? wanted.everyBatches
        : std::max<std::int64_t>(1, shareOf(trainBatches, wanted.intervalShare));
    if (wanted.everyEpochs > 0 && rounds.interval > trainBatches)
        return Error{ErrorCode::InvalidSetup,
                     "trainer.val_check_interval is " + std::to_string(rounds.interval)
                         + ", and an epoch has " + std::to_string(trainBatches)
                         + " batches, so it would never be reached.",
                     "Lower it, or set trainer.check_val_every_n_epoch to null to count across epochs."};
    return rounds;
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

namespace {

Result<void> frozenNames(const RunPlan& plan)
{
    if (plan.frozen.empty())
        return {};
    return checkFrozen(makeModel(plan.model, plan.seed, 0)->parameters(), plan.frozen);
}

/// A cycle that ends before the run does: PyTorch's class throws there, this says so before the start.
std::optional<Error> cycleTooShort(const PreparedRun& prepared)
{
    const auto& schedule = prepared.plan.schedule;
    if (schedule.kind != ScheduleKind::OneCycle)
        return std::nullopt;
    const bool bySteps = schedule.interval == ScheduleInterval::Step;
    const std::int64_t moments = bySteps ? totalSteps(prepared) : prepared.plan.maxEpochs;
    const std::int64_t advances = moments / schedule.frequency;
    if (advances <= schedule.oneCycle.totalSteps || schedule.holdOnSkip
        || (bySteps && schedule.frequency != 1)) // Counted by batches there, see Trainer.
        return std::nullopt;
    return Error{ErrorCode::InvalidSetup,
                 "OneCycleLR has a cycle of " + std::to_string(schedule.oneCycle.totalSteps)
                     + " steps, and this run advances it " + std::to_string(advances) + " times.",
                 "Set lr_scheduler.init_args.total_steps to " + std::to_string(advances) + "."};
}

} // namespace

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
        if (const auto known = frozenNames(plan); !known)
            return known.error();
        useThreads(plan.threadsPerRank);
        keepFreedMemory();
        auto data = openData(plan);
        if (!data)
            return data.error();
        const auto sampler = makeSampler(plan, *data->train);
        if (!sampler)
            return sampler.error();
        auto rounds = makeRounds(plan, data->validation, sampler->batchesPerEpoch());
        if (!rounds)
            return rounds.error();
        const DataPlace place{data->train->size(), jointRows(plan)};
        std::optional<StoredTraining> from;
        InitialTensors initial;
        if (!checkpoint.empty()) {
            auto stored = readTraining(plan, checkpoint);
            if (!stored)
                return stored.error();
            initial = std::move(stored->initial);
            from = *std::move(stored);
        } else {
            auto made = makeInitialTensors(plan);
            if (!made)
                return made.error();
            initial = *std::move(made);
        }
        auto prepared = std::make_shared<PreparedRun>(
            plan, std::move(initial), std::make_unique<Loader>(std::move(data->train), *sampler, plan.ranks),
            place, std::move(from), *std::move(rounds));
        if (const auto error = cycleTooShort(*prepared))
            return *error;
        return prepared;
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
