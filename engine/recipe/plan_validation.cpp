#include "engine/recipe/fields.h"
#include "engine/recipe/plan_parts.h"

namespace mantissa {

namespace {

/// A number of batches, or a share of them, as the Trainer's limits are written.
void planCount(PlanReader& reader, const Field& field, std::int64_t& count, double& share)
{
    const auto written = reader.setup().effective(field);
    if (written.isInteger()) {
        count = reader.integer(field);
        return;
    }
    share = reader.number(field, 1.0);
    if (share > 1.0)
        reader.cannot(field.path, written, "It takes a whole number of batches, or a share up to 1.0.");
}

bool hasTestSet(const DataPlan& data)
{
    return std::holds_alternative<FashionMnistPlan>(data) || std::holds_alternative<CifarPlan>(data);
}

void planSource(PlanReader& reader, RunPlan& plan)
{
    auto& validation = plan.validation;
    validation.split = reader.number(field::dataValSplit);
    validation.testSet = reader.flag(field::dataValTest);
    if (validation.split > 0.0 && std::holds_alternative<TracePlan>(plan.data))
        reader.fail("Recorded batches are replayed whole, so none can be kept back for validation.",
                    "Remove data.init_args.val_split.");
    if (validation.testSet && !hasTestSet(plan.data))
        reader.fail("data.init_args.val_test is true, and these data have no test samples of their own.",
                    "Use data.init_args.val_split instead.");
    if (validation.testSet && validation.split > 0.0)
        reader.fail("Validation has two sources: val_split keeps samples back, val_test uses the test ones.",
                    "Remove one of the two.");
}

void planInterval(PlanReader& reader, RunPlan& plan)
{
    const auto& setup = reader.setup();
    auto& validation = plan.validation;
    const auto every = setup.effective(field::valCheckInterval);
    if (every.isInteger())
        validation.everyBatches = reader.integer(field::valCheckInterval);
    else
        validation.intervalShare = reader.number(field::valCheckInterval, 1.0);
    const bool count = every.isInteger() && validation.everyBatches >= 1;
    const bool share =
        !every.isInteger() && validation.intervalShare > 0.0 && validation.intervalShare <= 1.0;
    if (!count && !share)
        reader.cannot(field::valCheckInterval.path, every,
                      "It takes a number of batches from 1, or a share of an epoch up to 1.0.");
    const bool acrossEpochs = setup[field::checkValEveryNEpoch].isNull();
    validation.everyEpochs = acrossEpochs ? 0 : reader.integer(field::checkValEveryNEpoch, 1);
    if (acrossEpochs && !count)
        reader.fail("trainer.check_val_every_n_epoch is null, so batches count across epochs, and "
                    "trainer.val_check_interval is no number of them.",
                    "Set trainer.val_check_interval to a whole number.");
}

} // namespace

void planLimit(PlanReader& reader, RunPlan& plan)
{
    planCount(reader, field::limitTrainBatches, plan.limitBatches, plan.limitShare);
    if (plan.limitBatches == 0 || plan.limitShare <= 0.0)
        reader.fail("trainer.limit_train_batches is 0, so there is nothing to train on.",
                    "Raise it, or remove it.");
    plan.minEpochs = reader.integer(field::minEpochs);
    plan.minSteps = reader.integer(field::minSteps);
    if (plan.minEpochs > plan.maxEpochs)
        reader.fail("trainer.min_epochs is " + std::to_string(plan.minEpochs) + ", more than max_epochs.",
                    "Lower it, or raise trainer.max_epochs.");
}

void planValidation(PlanReader& reader, RunPlan& plan)
{
    auto& validation = plan.validation;
    planSource(reader, plan);
    planInterval(reader, plan);
    planCount(reader, field::limitValBatches, validation.limitBatches, validation.limitShare);
    validation.sanityBatches = reader.integer(field::numSanityValSteps, 2);
    if (!plan.trial)
        return;
    validation.limitBatches = plan.limitBatches;
    validation.everyBatches = 0;
    validation.intervalShare = 1.0;
    validation.sanityBatches = 0;
}

} // namespace mantissa
