#include "engine/recipe/asked.h"
#include "engine/recipe/class_object.h"
#include "engine/recipe/fields.h"
#include "engine/recipe/plan_parts.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>

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
    PrecisionName{"64-true", PrecisionMode::Fp64True},
    PrecisionName{"fp8-mixed", PrecisionMode::Fp8Mixed},
};

/// Scales that people set themselves, by step.
void planScalesByHand(PlanReader& reader, ScalerPlan& scaler)
{
    const auto& written = reader.setup()[field::scalerByHand];
    if (written.isSet() && !written.isMap())
        reader.fail("mantissa.scaler.set_at is " + written.text() + ", and should be a map.",
                    "It maps steps to scales, such as {100: 1024}.");
    for (const auto& [from, scale] : written.asMap()) {
        std::int64_t step = -1;
        const auto parsed = std::from_chars(from.data(), from.data() + from.size(), step);
        const bool whole = parsed.ec == std::errc{} && parsed.ptr == from.data() + from.size() && step >= 0;
        const double value = scale.asDouble();
        if (!whole || !scale.isNumber() || !(value > 0.0)
            || value > static_cast<double>(std::numeric_limits<float>::max()))
            reader.fail("mantissa.scaler.set_at has “" + from + ": " + scale.text() + "”.",
                        "It maps steps from 0 to scales above 0 that fp32 can hold, such as {100: 1024}.");
        scaler.byHand[step] = value;
    }
}

void planScaler(PlanReader& reader, RunPlan& plan)
{
    auto& scaler = plan.scaler;
    scaler.enabled = plan.precision == PrecisionMode::Fp16Mixed && usesScaler(reader.setup());
    (void)reader.flag(field::scalerEnabled); // Read for its type.
    const Value plugin = precisionPlugin(reader.setup());
    const auto& given = argumentOf(plugin, "scaler");
    if (given.isSet() && plan.precision != PrecisionMode::Fp16Mixed)
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
    scaler.floor = reader.number(field::scalerFloor);
    planScalesByHand(reader, scaler);
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

void planFp8(PlanReader& reader, RunPlan& plan)
{
    plan.fp8.historyLength = reader.integer(field::fp8HistoryLength);
    plan.fp8.margin = reader.integer(field::fp8Margin);
    if (plan.precision == PrecisionMode::Fp8Mixed && std::holds_alternative<ScriptPlan>(plan.model))
        reader.fail(
            "fp8-mixed is emulated in the linear layers of this engine's own models, and a TorchScript "
            "file computes its layers itself.",
            "Train it in bf16-mixed, or choose another model.");
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
                      "It runs 32-true, 16-true, bf16-true, 16-mixed, bf16-mixed and 64-true, and "
                      "emulates fp8-mixed.");
        return;
    }
    plan.precision = *mode;
    planScaler(reader, plan);
    planFp8(reader, plan);
    planPlugins(reader);
}

} // namespace mantissa
