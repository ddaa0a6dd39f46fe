#include "engine/core/listed.h"
#include "engine/recipe/asked.h"
#include "engine/recipe/class_object.h"
#include "engine/recipe/fields.h"
#include "engine/recipe/plan_choice.h"
#include "engine/recipe/plan_parts.h"

#include <algorithm>
#include <array>

namespace mantissa {

namespace {

constexpr std::array kWraps = {
    PlanChoice{"block", UnitWrap::Block},
    PlanChoice{"size", UnitWrap::Size},
    PlanChoice{"whole", UnitWrap::Whole},
};
constexpr std::array kCarriers = {
    PlanChoice{"threads", CommKind::Threads},
    PlanChoice{"nccl", CommKind::Nccl},
};

void readDtype(PlanReader& reader, const Field& field, const Value& value, std::string& dtype)
{
    if (!value.isSet())
        return;
    dtype = dtypeName(value.asString());
    if (dtype.empty())
        reader.cannot(field.path, value, "It knows torch.float32, torch.float16 and torch.bfloat16.");
}

void planShardDtypes(PlanReader& reader, RunPlan& plan)
{
    const auto& mixed = reader.setup()[field::fsdpMixedPrecision];
    const auto read = [&](const Value& value, std::string& dtype) {
        readDtype(reader, field::fsdpMixedPrecision, value, dtype);
    };
    if (mixed.isString()) {
        read(mixed, plan.paramDtype);
        plan.reduceDtype = plan.paramDtype;
        return;
    }
    read(argumentOf(mixed, "param_dtype"), plan.paramDtype);
    read(argumentOf(mixed, "reduce_dtype"), plan.reduceDtype);
    if (argumentOf(mixed, "buffer_dtype").isSet())
        reader.fail("buffer_dtype is set, and this engine keeps buffers in the format of the precision.",
                    "Remove it to train here.");
}

/// [replicas, shards], which together are all ranks.
void planMesh(PlanReader& reader, const RunPlan& plan, const Field& field, bool needed)
{
    const auto& mesh = reader.setup()[field];
    const auto& sizes = mesh.asList();
    const auto ranks = std::to_string(plan.ranks);
    if (!mesh.isSet()) {
        if (needed)
            reader.fail("Hybrid sharding needs to know its groups, and " + std::string(field.path)
                            + " is not set.",
                        "Write [replicas, shards], whose product is the " + ranks + " ranks.");
        return;
    }
    if (sizes.size() != 2 || sizes[0].asInteger() < 1 || sizes[1].asInteger() < 1
        || sizes[0].asInteger() * sizes[1].asInteger() != plan.ranks)
        reader.cannot(field.path, mesh,
                      "It is [replicas, shards], whose product is the " + ranks + " ranks.");
    else if (!needed && sizes[0].asInteger() > 1)
        reader.cannot(field.path, mesh, "Replicas are for HYBRID_SHARD.");
}

void planFsdp(PlanReader& reader, RunPlan& plan)
{
    const auto& setup = reader.setup();
    plan.strategy = StrategyKind::Fsdp;
    plan.shards = shardsAsked(setup);
    const auto name = setup.effective(field::fsdpShardingStrategy).asString();
    const auto& choices = field::fsdpShardingStrategy.choices;
    if (std::find(choices.begin(), choices.end(), name) == choices.end())
        reader.cannot(field::fsdpShardingStrategy.path, setup[field::fsdpShardingStrategy],
                      "It shards with " + listed(choices) + ".");
    const bool hybrid =
        plan.shards.sharding == Sharding::Hybrid || plan.shards.sharding == Sharding::HybridGradOp;
    planMesh(reader, plan, field::fsdpDeviceMesh, hybrid);
    (void)reader.flag(field::fsdpForwardPrefetch);
    (void)reader.flag(field::fsdpLimitAllGathers);
    planShardDtypes(reader, plan);
}

void planModelParallel(PlanReader& reader, RunPlan& plan)
{
    const auto& setup = reader.setup();
    plan.strategy = StrategyKind::Fsdp2;
    plan.shards = shardsAsked(setup);
    const auto& tensor = setup[field::modelParallelTensor];
    if (tensor.asInteger() != 1 && setup[field::strategy].asString() != "fsdp2")
        reader.cannot(
            field::modelParallelTensor.path, setup.effective(field::modelParallelTensor),
            "It splits weights and no layers: set tensor_parallel_size to 1 and data_parallel_size to "
                + std::to_string(plan.ranks) + ".");
    const auto& data = setup[field::modelParallelData];
    if (data.isInteger() && data.asInteger() != plan.ranks)
        reader.cannot(field::modelParallelData.path, data,
                      "It splits the batch over all ranks: " + std::to_string(plan.ranks) + ".");
    planMesh(reader, plan, field::shardMesh, setup[field::shardMesh].isSet());
    (void)reader.flag(field::shardReshard);
    (void)reader.flag(field::shardCastInputs);
    readDtype(reader, field::shardParamDtype, setup[field::shardParamDtype], plan.paramDtype);
    readDtype(reader, field::shardReduceDtype, setup[field::shardReduceDtype], plan.reduceDtype);
    readDtype(reader, field::shardOutputDtype, setup[field::shardOutputDtype], plan.shards.outputDtype);
}

void planDdp(PlanReader& reader, RunPlan& plan)
{
    const auto& setup = reader.setup();
    plan.strategy = StrategyKind::Ddp;
    if (setup[field::ddpCommHook].isSet() || setup[field::ddpModelAveraging].isSet())
        reader.fail("This DDP changes gradients or weights on their way, which this engine does not.",
                    "Remove the hook to train here.");
    const auto name = setup.effective(field::strategy).asString();
    plan.ddp.bucketMiB = reader.number(field::ddpBucketCap);
    plan.ddp.findUnused = reader.flag(field::ddpFindUnused) || name == "ddp_find_unused_parameters_true";
    plan.ddp.staticGraph = reader.flag(field::ddpStaticGraph);
    plan.ddp.broadcastBuffers = reader.flag(field::ddpBroadcastBuffers);
    plan.ddp.gradientViews = !setup[field::ddpGradientViews].isSet() || reader.flag(field::ddpGradientViews);
}

void planRanks(PlanReader& reader, RunPlan& plan)
{
    const auto& setup = reader.setup();
    if (setup[field::ranks].isSet())
        (void)reader.integer(field::ranks);
    plan.ranks = ranksHere(setup);
    const auto asked = ranksAsked(setup);
    const auto least = static_cast<std::int64_t>(*field::ranks.least);
    const auto most = static_cast<std::int64_t>(*field::ranks.most);
    if (asked < least || asked > most)
        reader.fail(std::to_string(asked) + (asked == 1 ? " rank is" : " ranks are")
                        + " asked for, and one machine here takes from " + std::to_string(least) + " to "
                        + std::to_string(most) + ".",
                    "Set mantissa.ranks to the number of thread ranks to train with.");
}

void planUnits(PlanReader& reader, RunPlan& plan)
{
    const auto& setup = reader.setup();
    (void)choose(reader, field::shardWrap, kWraps); // shardsAsked has read it, with the target's own policy.
    (void)reader.integer(field::shardLeastUnit);
    plan.frozen = frozenAsked(setup);
    if (setup[field::recompute].isSet())
        (void)reader.flag(field::recompute);
    plan.recompute = recomputes(setup);
    plan.comm = choose(reader, field::communicator, kCarriers);
}

} // namespace

void planStrategy(PlanReader& reader, RunPlan& plan)
{
    const auto& setup = reader.setup();
    planRanks(reader, plan);
    const auto kind = strategyAsked(setup);
    if (kind == "single_device") {
        plan.strategy = StrategyKind::Single;
        if (plan.ranks > 1)
            reader.fail("A single-device strategy cannot use " + std::to_string(plan.ranks) + " ranks.",
                        "Set mantissa.ranks to 1, or choose ddp, zero1 or fsdp.");
    } else if (kind == "ddp") {
        planDdp(reader, plan);
    } else if (kind == "zero1") {
        plan.strategy = StrategyKind::Zero1;
        plan.shards = shardsAsked(setup);
    } else if (kind == "fsdp") {
        planFsdp(reader, plan);
    } else if (kind == "model_parallel") {
        planModelParallel(reader, plan);
    } else {
        reader.cannot(field::strategy.path, setup.effective(field::strategy),
                      "It runs single_device, ddp, zero1, fsdp and fsdp2.");
    }
    planUnits(reader, plan);
    if (reader.flag(field::syncBatchnorm))
        reader.cannot(field::syncBatchnorm.path, true,
                      "Its batch normalisation is over the batch of each rank.");
}

} // namespace mantissa
