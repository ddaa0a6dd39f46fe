#include "engine/core/listed.h"
#include "engine/recipe/fields.h"
#include "engine/recipe/plan_parts.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace mantissa {

namespace {

struct OtherName {
    std::string_view written;
    std::string_view series;
};

/// What people call these series in their own modules.
constexpr std::array kOtherNames = {
    OtherName{"train_loss", "loss"},      OtherName{"train_accuracy", "accuracy"},
    OtherName{"train_acc", "accuracy"},   OtherName{"acc", "accuracy"},
    OtherName{"val_acc", "val_accuracy"}, OtherName{"valid_loss", "val_loss"},
};
constexpr std::array<std::string_view, 8> kAlways = {
    "loss", "accuracy", "skipped", "grad_norm", "param_norm", "update_ratio", "stalled_share", "lr"};

/// "01:02:03:04" as seconds; negative where it is no such time.
double clockSeconds(std::string_view text)
{
    constexpr std::array<double, 4> kUnits = {86400.0, 3600.0, 60.0, 1.0};
    double seconds = 0.0;
    for (std::size_t i = 0; i < kUnits.size(); ++i) {
        const auto end = std::min(text.find(':'), text.size());
        std::int64_t part = -1;
        const auto parsed = std::from_chars(text.data(), text.data() + end, part);
        const bool last = i + 1 == kUnits.size();
        if (parsed.ec != std::errc{} || parsed.ptr != text.data() + end || part < 0
            || (end == text.size()) != last)
            return -1.0;
        seconds += static_cast<double>(part) * kUnits[i];
        text.remove_prefix(last ? end : end + 1);
    }
    return seconds;
}

double mapSeconds(const Value& parts)
{
    constexpr std::array<std::string_view, 5> kNames = {"weeks", "days", "hours", "minutes", "seconds"};
    constexpr std::array<double, 5> kUnits = {604800.0, 86400.0, 3600.0, 60.0, 1.0};
    double seconds = 0.0;
    for (const auto& [name, value] : parts.asMap()) {
        const auto found = std::find(kNames.begin(), kNames.end(), name);
        if (found == kNames.end() || !value.isNumber() || !(value.asDouble() >= 0.0))
            return -1.0;
        seconds += value.asDouble() * kUnits[static_cast<std::size_t>(found - kNames.begin())];
    }
    return seconds;
}

} // namespace

std::string monitoredSeries(PlanReader& reader, const RunPlan& plan, const Field& field)
{
    if (!reader.setup().effective(field).isSet())
        return {};
    const auto written = reader.word(field);
    const auto* other = std::find_if(kOtherNames.begin(), kOtherNames.end(),
                                     [&](const auto& name) { return name.written == written; });
    const std::string_view name = other == kOtherNames.end() ? std::string_view(written) : other->series;
    std::vector<std::string_view> known(kAlways.begin(), kAlways.end());
    if (plan.scaler.enabled)
        known.insert(known.end(), {"loss_scale", "grad_norm_scaled"});
    const auto ofOwn = ownSeries(plan);
    known.insert(known.end(), ofOwn.begin(), ofOwn.end());
    if (plan.clip.kind != ClipKind::None)
        known.push_back("grad_norm_clipped");
    if (plan.validation.wanted()) {
        known.insert(known.end(), {"val_loss", "val_accuracy"});
        if (modelFace(plan.model).input == InputKind::Tokens)
            known.push_back("val_perplexity");
    }
    if (std::find(known.begin(), known.end(), name) != known.end())
        return std::string(name);
    const bool lacksValidation = name.starts_with("val") && !plan.validation.wanted();
    reader.fail(std::string(field.path) + " is " + written + ", which this run does not record.",
                lacksValidation ? std::string(
                    "Keep samples back for validation: set data.init_args.val_split, say to 0.1.")
                                : "It records " + listed(known) + ".");
    return {};
}

double secondsOf(PlanReader& reader, const Field& field)
{
    const auto written = reader.setup().effective(field);
    if (!written.isSet())
        return 0.0;
    const double seconds = written.isMap() ? mapSeconds(written) : clockSeconds(written.asString());
    if (seconds < 0.0)
        reader.cannot(field.path, written, "A time is written DD:HH:MM:SS, such as 00:01:30:00.");
    return seconds;
}

} // namespace mantissa
