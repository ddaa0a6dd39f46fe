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

} // namespace mantissa
