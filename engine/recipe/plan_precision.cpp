#include "engine/recipe/asked.h"
#include "engine/recipe/class_object.h"
#include "engine/recipe/fields.h"
#include "engine/recipe/plan_parts.h"

#include <algorithm>
#include <array>

namespace mantissa {

namespace {

struct PrecisionName {
    std::string_view name;
    PrecisionMode mode;
};

constexpr std::array kPrecisions = {
    PrecisionName{"32-true", PrecisionMode::Fp32True},
    PrecisionName{"16-true", PrecisionMode::Fp16True},
    PrecisionName{"bf16-true", PrecisionMode::Bf16True},
    PrecisionName{"16-mixed", PrecisionMode::Fp16Mixed},
    PrecisionName{"bf16-mixed", PrecisionMode::Bf16Mixed},
};

void planScaler(PlanReader& reader, RunPlan& plan)
{
    auto& scaler = plan.scaler;
    scaler.enabled = plan.precision == PrecisionMode::Fp16Mixed;
    const auto given = argumentOf(precisionPlugin(reader.setup()), "scaler");
    if (given.isSet() && !scaler.enabled)
        reader.fail("A loss scaler is given, and " + precisionName(reader.setup()) + " has none.",
                    "Remove the scaler, or train in 16-mixed.");
    // Read for their ranges; a scaler object may say the same.
    for (const auto* field :
         {&field::scalerInitScale, &field::scalerGrowthFactor, &field::scalerBackoffFactor})
        (void)reader.number(*field);
    (void)reader.integer(field::scalerGrowthInterval);
    scaler.initScale = scalerSetting(reader.setup(), "init_scale");
    scaler.growthFactor = scalerSetting(reader.setup(), "growth_factor");
    scaler.backoffFactor = scalerSetting(reader.setup(), "backoff_factor");
    scaler.growthInterval = static_cast<std::int64_t>(scalerSetting(reader.setup(), "growth_interval"));
    if (scaler.enabled && !(scaler.initScale > 0.0))
        reader.fail("The loss scale begins at " + Value(scaler.initScale).text() + ".",
                    "It begins above 0, usually at 65536.");
    if (scaler.enabled && !(scaler.growthFactor > 1.0))
        reader.fail("The growth factor of the loss scale is " + Value(scaler.growthFactor).text() + ".",
                    "It is above 1, usually 2.");
    if (scaler.enabled && !(scaler.backoffFactor > 0.0 && scaler.backoffFactor < 1.0))
        reader.fail("The back-off factor of the loss scale is " + Value(scaler.backoffFactor).text() + ".",
                    "It is between 0 and 1, usually 0.5.");
}

void planPlugins(PlanReader& reader)
{
    for (const auto& plugin : reader.setup()[field::plugins].asList())
        if (const auto name = classOf(plugin); !name.ends_with("Precision"))
            reader.fail("The plugin " + name + " is one that this engine does not have.",
                        "Remove it to train here.");
}

void planShardDtypes(PlanReader& reader, RunPlan& plan)
{
    const auto& mixed = reader.setup()[field::fsdpMixedPrecision];
    const auto read = [&](const Value& value, std::string& dtype) {
        if (!value.isSet())
            return;
        dtype = dtypeName(value.asString());
        if (dtype.empty())
            reader.cannot(field::fsdpMixedPrecision.path, value,
                          "It knows torch.float32, torch.float16 and torch.bfloat16.");
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

void planFsdp(PlanReader& reader, RunPlan& plan)
{
    const auto& setup = reader.setup();
    plan.strategy = StrategyKind::FsdpFullShard;
    if (setup.effective(field::fsdpShardingStrategy).asString() != "FULL_SHARD")
        reader.cannot(field::fsdpShardingStrategy.path, setup[field::fsdpShardingStrategy],
                      "It shards with FULL_SHARD.");
    const auto& strategy = setup[field::strategy];
    const bool offloads = strategy.isMap()
        ? setup[field::fsdpCpuOffload].isSet() && setup[field::fsdpCpuOffload] != Value(false)
        : strategy.asString() == "fsdp_cpu_offload";
    if (offloads)
        reader.fail("The shards are to be kept in main memory, where this engine has them anyway.",
                    "Use strategy: fsdp to train here.");
    for (const auto* field : {&field::fsdpActivationCheckpointing, &field::fsdpActivationCheckpointingPolicy,
                              &field::fsdpDeviceMesh})
        if (setup[*field].isSet())
            reader.cannot(field->path, setup[*field], "Remove it to train here.");
    planShardDtypes(reader, plan);
}

} // namespace

std::string_view precisionId(PrecisionMode mode)
{
    const auto* found =
        std::find_if(kPrecisions.begin(), kPrecisions.end(), [&](const auto& p) { return p.mode == mode; });
    return found == kPrecisions.end() ? std::string_view() : found->name;
}

std::optional<PrecisionMode> precisionWithId(std::string_view id)
{
    const auto* found =
        std::find_if(kPrecisions.begin(), kPrecisions.end(), [&](const auto& p) { return p.name == id; });
    return found == kPrecisions.end() ? std::nullopt : std::optional(found->mode);
}

void planPrecision(PlanReader& reader, RunPlan& plan)
{
    const auto name = precisionName(reader.setup());
    const auto mode = precisionWithId(name);
    if (!mode) {
        reader.cannot(field::precision.path, Value(name),
                      "It runs 32-true, 16-true, bf16-true, 16-mixed and bf16-mixed.");
        return;
    }
    plan.precision = *mode;
    planScaler(reader, plan);
    planPlugins(reader);
}

void planStrategy(PlanReader& reader, RunPlan& plan)
{
    const auto& setup = reader.setup();
    if (setup[field::ranks].isSet())
        (void)reader.integer(field::ranks);
    plan.ranks = ranksHere(setup);
    if (static_cast<double>(plan.ranks) > *field::ranks.most)
        reader.fail(std::to_string(plan.ranks)
                        + " ranks are asked for, and one machine here takes at most 64.",
                    "Set mantissa.ranks to the number of thread ranks to train with.");
    const auto kind = strategyAsked(setup);
    if (kind == "single_device") {
        plan.strategy = StrategyKind::Single;
        if (plan.ranks > 1)
            reader.fail("A single-device strategy cannot use " + std::to_string(plan.ranks) + " ranks.",
                        "Set mantissa.ranks to 1, or choose ddp or fsdp.");
    } else if (kind == "ddp") {
        plan.strategy = StrategyKind::Ddp;
        if (setup[field::ddpCommHook].isSet() || setup[field::ddpModelAveraging].isSet())
            reader.fail("This DDP changes gradients or weights on their way, which this engine does not.",
                        "Remove the hook to train here.");
    } else if (kind == "fsdp") {
        planFsdp(reader, plan);
    } else {
        reader.cannot(field::strategy.path, setup.effective(field::strategy),
                      "It runs single_device, ddp and fsdp.");
    }
    if (reader.flag(field::syncBatchnorm))
        reader.cannot(field::syncBatchnorm.path, true,
                      "Its batch normalisation is over the batch of each rank.");
}

} // namespace mantissa
