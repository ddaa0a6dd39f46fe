#include "engine/rules/metric_reading.h"

#include "engine/recipe/fields.h"
#include "engine/rules/callback_reading.h"
#include "engine/rules/reading.h"

#include <algorithm>

namespace mantissa {
namespace {

constexpr std::string_view kLogsInTraining = "logs_train";
constexpr std::string_view kLogsInValidation = "logs_val";
constexpr std::string_view kLoaderSuffix = "/dataloader_idx_";

enum class Place { Unknown, Nowhere, Training, Validation, EachLoader };

bool contains(const Value& names, std::string_view name)
{
    return std::any_of(names.asList().begin(), names.asList().end(),
                       [&](const Value& one) { return one.asString() == name; });
}

std::int64_t validationLoaders(const RuleContext& context)
{
    return otherFact(context, "data.num_eval_loaders").asInteger(1);
}

/// LearningRateMonitor puts the learning rates among the metrics.
bool isLearningRate(const RuleContext& context, std::string_view metric)
{
    return metric.starts_with("lr-") && hasCallback(context, "LearningRateMonitor");
}

Place placeOf(const RuleContext& context, std::string metric)
{
    const Value& training = otherFact(context, kLogsInTraining);
    const Value& validation = otherFact(context, kLogsInValidation);
    if (contains(training, metric) || isLearningRate(context, metric))
        return Place::Training;
    bool each = validationLoaders(context) > 1;
    if (const auto suffix = metric.find(kLoaderSuffix); each && suffix != std::string::npos) {
        metric.resize(suffix);
        each = false;
    }
    if (contains(validation, metric))
        return each ? Place::EachLoader : Place::Validation;
    return training.isList() && validation.isList() ? Place::Nowhere : Place::Unknown;
}

bool existsValidation(RuleContext& context)
{
    const bool all = isTrialRun(context) || context.at(field::overfitBatches).asDouble() > 0.0;
    const Value& limit = context.at(field::limitValBatches);
    if (!all && limit.isNumber() && limit.asDouble() == 0.0)
        return false;
    if (contains(otherFact(context, "omits"), "validation_step"))
        return false;
    return context.fact(field::hasValLoader.path, true, "There is a validation loader.");
}

} // namespace

std::optional<std::int64_t> lastEpoch(const RuleContext& context)
{
    const Value& epochs = context.at(field::maxEpochs);
    if (epochs.isInteger() && epochs.asInteger() > 0)
        return epochs.asInteger();
    return std::nullopt;
}

Validates whenValidates(RuleContext& context)
{
    if (!startsLoop(context) || !existsValidation(context))
        return Validates::Never;
    const Value& interval = context.at(field::valCheckInterval);
    const Value& every = context.at(field::checkValEveryNEpoch);
    if (every.isNull() || (interval.isSet() && !interval.isNumber()))
        return Validates::Unclear;
    const auto epochs = lastEpoch(context);
    if (epochs && every.asInteger(1) > *epochs)
        return Validates::Never;
    if (every.asInteger(1) == 1)
        return Validates::EachEpoch;
    return context.at(field::maxSteps).asInteger(-1) == -1 ? Validates::SomeEpochs : Validates::Unclear;
}

std::string whyMissing(RuleContext& context, const std::string& metric, LooksFor when)
{
    const Place place = placeOf(context, metric);
    const bool byName = place == Place::Unknown && metric.starts_with("val") && when == LooksFor::EachEpoch;
    if (place == Place::Training || (place == Place::Unknown && !byName))
        return {};
    const Validates validates = whenValidates(context);
    if (byName) {
        if (validates != Validates::Never)
            return {};
        context.assume("mantissa.facts.logs_val",
                       "Metrics whose names begin with val are logged in validation.");
    }
    const bool looks = when == LooksFor::EachEpoch || validates == Validates::EachEpoch
        || validates == Validates::SomeEpochs;
    if (!looks)
        return {};
    if (place == Place::Nowhere)
        return "the module logs nothing of that name";
    if (place == Place::EachLoader)
        return "with " + std::to_string(validationLoaders(context)) + " validation loaders it is logged as "
            + metric + std::string(kLoaderSuffix) + "0 and so on";
    if (validates == Validates::Never)
        return "it is logged in validation, and none takes place";
    if (when == LooksFor::EachEpoch && context.at(field::checkValEveryNEpoch).asInteger(1) > 1)
        return "it is logged in validation, which leaves the first epoch out";
    return {};
}

std::vector<std::string> metricsAtHand(RuleContext& context, const std::string& metric)
{
    std::vector<std::string> names;
    if (placeOf(context, metric) == Place::EachLoader)
        names.push_back(metric + std::string(kLoaderSuffix) + "0");
    const bool validated = whenValidates(context) == Validates::EachEpoch;
    if (validated && validationLoaders(context) == 1) {
        for (const Value& name : otherFact(context, kLogsInValidation).asList())
            names.push_back(name.asString());
    }
    for (const Value& name : otherFact(context, kLogsInTraining).asList())
        names.push_back(name.asString());
    return names;
}

} // namespace mantissa
