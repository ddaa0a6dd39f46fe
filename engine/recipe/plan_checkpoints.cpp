#include "engine/recipe/class_object.h"
#include "engine/recipe/fields.h"
#include "engine/recipe/plan_parts.h"

#include <algorithm>
#include <array>

namespace mantissa {
namespace {

/// What ModelCheckpoint may be given here: what the plan reads, and what has no meaning in a run's own
/// folder.
constexpr std::array<std::string_view, 12> kArguments = {"every_n_train_steps",
                                                         "every_n_epochs",
                                                         "save_on_train_epoch_end",
                                                         "monitor",
                                                         "mode",
                                                         "save_top_k",
                                                         "dirpath",
                                                         "filename",
                                                         "verbose",
                                                         "save_last",
                                                         "auto_insert_metric_name",
                                                         "enable_version_counter"};

void checkArguments(PlanReader& reader)
{
    const auto& callbacks = reader.setup()[field::callbacks];
    for (const auto& callback : callbacks.asEntries()) {
        if (classOf(callback) != "ModelCheckpoint")
            continue;
        for (const auto& [name, value] : callback["init_args"].asMap())
            if (value.isSet() && std::find(kArguments.begin(), kArguments.end(), name) == kArguments.end())
                reader.fail("ModelCheckpoint has the argument " + name
                                + ", which this engine does not follow.",
                            "Remove it to train here. It follows every_n_train_steps, every_n_epochs, "
                            "save_on_train_epoch_end, monitor, mode and save_top_k.");
    }
}

bool hasCheckpointCallback(const Setup& setup)
{
    const auto entries = setup[field::callbacks].asEntries();
    return std::any_of(entries.begin(), entries.end(),
                       [](const Value& entry) { return classOf(entry) == "ModelCheckpoint"; });
}

/// Without a word on when, the ecosystem saves after every epoch.
void planMoments(PlanReader& reader, CheckpointPlan& plan)
{
    const auto& setup = reader.setup();
    plan.everySteps = reader.integer(field::checkpointEvery);
    const bool bySteps = setup[field::checkpointEvery].isSet();
    plan.everyEpochs = reader.integer(field::checkpointEveryEpochs, bySteps ? 0 : 1);
    if (setup[field::checkpointOnEpochEnd].isSet())
        plan.onTrainEpochEnd = reader.flag(field::checkpointOnEpochEnd);
    if (plan.everySteps > 0 && plan.everyEpochs > 0)
        reader.fail("ModelCheckpoint is to save by steps and by epochs.",
                    "Set one of every_n_train_steps and every_n_epochs.");
}

void planBest(PlanReader& reader, const RunPlan& run, CheckpointPlan& plan)
{
    const auto best = reader.integer(field::checkpointSaveTopK, 1);
    plan.monitor = monitoredSeries(reader, run, field::checkpointMonitor);
    plan.mostIsBest = reader.word(field::checkpointMode) == "max";
    if (!plan.monitor.empty()) {
        plan.keepBest = best;
        return;
    }
    if (best > 1)
        reader.fail("ModelCheckpoint is to keep the best " + std::to_string(best)
                        + " checkpoints, and has no monitor to tell which they are.",
                    "Set its monitor to a series, for instance loss, or keep the newest ones with "
                    "mantissa.keep_checkpoints.");
    if (best < 0) // The ecosystem's word for all of them.
        plan.keepLast = -1;
    if (best == 0) {
        plan.everySteps = 0;
        plan.everyEpochs = 0;
    }
}

void planRewind(PlanReader& reader, RunPlan& plan)
{
    const auto every = reader.integer(field::rewindEvery);
    if (every == 0)
        return;
    auto& checkpoints = plan.checkpoints;
    plan.hashParameters = true;
    if (checkpoints.everySteps == 0)
        checkpoints.everySteps = every;
    if (checkpoints.keepLast >= 0 && checkpoints.keepLast < 2)
        checkpoints.keepLast = 2;
}

} // namespace

void planCheckpoints(PlanReader& reader, RunPlan& plan)
{
    auto& checkpoints = plan.checkpoints;
    checkpoints.atEnd = checkpoints.atEnd && reader.flag(field::enableCheckpointing);
    checkpoints.keepLast = reader.integer(field::keepCheckpoints, 1);
    if (checkpoints.keepLast == 0)
        reader.cannot(field::keepCheckpoints.path, Value(std::int64_t{0}),
                      "The newest one always stays, so that the run can be gone on with: 1, or more; -1 for "
                      "all.");
    if (hasCheckpointCallback(reader.setup())) {
        checkArguments(reader);
        planMoments(reader, checkpoints);
        planBest(reader, plan, checkpoints);
    }
    planRewind(reader, plan);
    if (!checkpoints.atEnd) {
        checkpoints.everySteps = 0;
        checkpoints.everyEpochs = 0;
    }
    if (plan.strategy == StrategyKind::Fsdp)
        checkpoints.sharded = reader.word(field::fsdpStateDictType) == "sharded";
}

} // namespace mantissa
