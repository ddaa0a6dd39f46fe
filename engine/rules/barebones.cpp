#include "engine/recipe/fields.h"
#include "engine/rules/making.h"
#include "engine/rules/rule_context.h"

#include <array>

namespace mantissa {
namespace {

/// A flag that costs time beside training, and so may not be asked for with barebones.
struct Costly {
    const Field* flag;
    const char* raises; ///< What follows the flag in Lightning's words.
};

constexpr std::array kCostly = {
    Costly{&field::enableCheckpointing, "Checkpointing can impact raw speed"},
    Costly{&field::logger, "Logging can impact raw speed"},
    Costly{&field::enableProgressBar, "The progress bar can impact raw speed"},
    Costly{&field::logEveryNSteps, "Logging can impact raw speed"},
    Costly{&field::enableModelSummary, "Model summary can impact raw speed"},
    Costly{&field::numSanityValSteps, "Sanity checking can impact raw speed"},
    Costly{&field::fastDevRun, "Development run is not meant for raw speed evaluation"},
    Costly{&field::detectAnomaly, "Anomaly detection can impact raw speed"},
    Costly{&field::profiler, "Profiling can impact raw speed"},
};

/// Not left out, and not switched off either.
bool isAskedFor(const Value& value)
{
    if (!value.isSet() || (value.isBool() && !value.asBool()))
        return false;
    return !value.isNumber() || value.asDouble() != 0.0;
}

void barebonesForbids(RuleContext& context)
{
    if (!context.at(field::barebones).asBool())
        return;
    for (const auto& [flag, words] : kCostly) {
        const Value& value = context.at(*flag);
        if (!isAskedFor(value))
            continue;
        Finding finding =
            findingAt(Severity::WontStart, Stage::Configure, {flag->path, field::barebones.path});
        finding.message = std::string(flag->label) + "=" + value.text()
            + " is asked for, and barebones=true leaves out all that costs time beside training.";
        finding.why =
            "barebones is for measuring how fast the bare loop is. Its Trainer refuses a flag that would "
            "spoil the measurement, and does not choose between the two.";
        finding.source = inLightning("src/lightning/pytorch/trainer/trainer.py, Trainer.__init__");
        finding.engine = "cannot";
        finding.raises = "ValueError: `Trainer(barebones=True, " + std::string(flag->label) + "="
            + (value.isBool() ? "True" : value.text()) + ")` was passed. " + words;
        finding.fixes = {changingFix("Leave barebones mode", {unset(field::barebones.path)}),
                         changingFix("Measure, without " + std::string(flag->label), {unset(flag->path)})};
        context.report(std::move(finding));
    }
}

constexpr std::array kRules = {
    Rule{"barebones-forbids", kOfTrainer, {"2.0"}, barebonesForbids},
};

} // namespace

std::span<const Rule> barebonesRules()
{
    return kRules;
}

} // namespace mantissa
