#include "engine/recipe/fields.h"
#include "engine/rules/making.h"
#include "engine/rules/run_reading.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace mantissa {
namespace {

FindingSource inConnector()
{
    return inLightning("src/lightning/pytorch/trainer/connectors/data_connector.py, on_trainer_init");
}

void everyEpochsType(RuleContext& context)
{
    const Value& value = context.at(field::checkValEveryNEpoch);
    if (!value.isSet() || value.isInteger() || value.isBool())
        return;
    Finding finding = findingAt(Severity::WontStart, Stage::Configure, {field::checkValEveryNEpoch.path});
    finding.message = "check_val_every_n_epoch is " + value.text() + "; epochs are counted in whole numbers.";
    finding.why = "Validation follows every so many whole epochs; within one, val_check_interval says when.";
    finding.source = inConnector();
    finding.engine = "same";
    finding.raises = "MisconfigurationException: `check_val_every_n_epoch` should be an integer, found "
        + value.text() + ".";
    finding.fixes = {changingFix("Validate after every epoch", {unset(field::checkValEveryNEpoch.path)})};
    context.report(std::move(finding));
}

void everyEpochsZero(RuleContext& context)
{
    const Value& value = context.at(field::checkValEveryNEpoch);
    if (!value.isInteger() || value.asInteger() != 0 || isFastDevRun(context) || !validatesInFit(context))
        return;
    Finding finding = findingAt(Severity::Stops, Stage::FitStart, {field::checkValEveryNEpoch.path});
    finding.message = "check_val_every_n_epoch is 0, and the loop divides the epoch's number by it.";
    finding.why = "0 is not read as never: the value is only checked for its type.";
    finding.source =
        inLightning("src/lightning/pytorch/loops/training_epoch_loop.py, _should_check_val_epoch");
    finding.engine = "same";
    finding.raises = "ZeroDivisionError: integer modulo by zero";
    finding.fixes = {
        changingFix("Validate after every epoch", {unset(field::checkValEveryNEpoch.path)}),
        changingFix("Never validate",
                    {unset(field::checkValEveryNEpoch.path), setTo(field::limitValBatches.path, 0)})};
    context.report(std::move(finding));
}

void shareWithoutEpochs(RuleContext& context)
{
    const Value& interval = context.at(field::valCheckInterval);
    if (!context.at(field::checkValEveryNEpoch).isNull() || !interval.isDouble())
        return;
    Finding finding = findingAt(Severity::WontStart, Stage::Configure,
                                {field::valCheckInterval.path, field::checkValEveryNEpoch.path});
    finding.message = "val_check_interval=" + interval.text()
        + " is a share of an epoch, and check_val_every_n_epoch=null counts batches across epochs.";
    finding.why = "Without epochs to count in there is nothing of which it could be a share: it then takes a "
                  "whole number of batches, or a time.";
    finding.source = inConnector();
    finding.engine = "same";
    finding.raises =
        "MisconfigurationException: `val_check_interval` should be an integer or a time-based duration";
    finding.fixes = {
        changingFix("Keep the share, and validate in every epoch", {unset(field::checkValEveryNEpoch.path)}),
        changingFix("Validate every 100 batches", {setTo(field::valCheckInterval.path, 100)})};
    context.report(std::move(finding));
}

void intervalZero(RuleContext& context)
{
    const Value& interval = context.at(field::valCheckInterval);
    if (!interval.isInteger() || interval.asInteger() != 0 || isFastDevRun(context)
        || !validatesInFit(context))
        return;
    Finding finding = findingAt(Severity::Stops, Stage::Record, {field::valCheckInterval.path});
    finding.message = "val_check_interval is 0 batches, and the loop divides the batch's number by it.";
    finding.why =
        "0 is a valid limit and passes the check of the flags. The share 0.0 would be rounded up to "
        "one batch.";
    finding.source = inLightning("src/lightning/pytorch/loops/training_epoch_loop.py, _should_check_val_fx");
    finding.engine = "same";
    finding.raises = "ZeroDivisionError: integer modulo by zero";
    finding.fixes = {
        changingFix("Validate at the end of an epoch", {unset(field::valCheckInterval.path)}),
        changingFix("Never validate",
                    {unset(field::valCheckInterval.path), setTo(field::limitValBatches.path, 0)})};
    context.report(std::move(finding));
}

/// The most batches that an epoch can have; absent where that is unknown.
Value mostBatches(RuleContext& context)
{
    const Value& limit =
        isOverfitting(context) ? context.at(field::overfitBatches) : context.at(field::limitTrainBatches);
    const auto loader = loaderBatches(context);
    if (limit.isInteger())
        return loader ? std::min(*loader, limit.asInteger()) : limit.asInteger();
    if (!loader)
        return {};
    return static_cast<std::int64_t>(static_cast<double>(*loader) * limit.asDouble(1.0));
}

void intervalTooLong(RuleContext& context)
{
    const Value& interval = context.at(field::valCheckInterval);
    if (!interval.isInteger() || context.at(field::checkValEveryNEpoch).isNull() || isFastDevRun(context)
        || !validatesInFit(context))
        return;
    const Value batches = mostBatches(context);
    if (batches.isAbsent() || interval.asInteger() <= batches.asInteger())
        return;
    Finding finding = findingAt(Severity::WontStart, Stage::FitStart,
                                {field::valCheckInterval.path, field::limitTrainBatches.path});
    finding.message = "val_check_interval is " + interval.text() + " batches, and an epoch has "
        + batches.text() + " at most.";
    finding.why =
        "Within an epoch validation would never come. With check_val_every_n_epoch=null batches are "
        "counted across epochs, and it may be longer.";
    finding.source = inLightning("src/lightning/pytorch/loops/fit_loop.py, _FitLoop.setup_data");
    finding.engine = "same";
    finding.raises = "ValueError: `val_check_interval` (" + interval.text()
        + ") must be less than or equal to the number of the training batches (";
    finding.fixes = {
        changingFix("Count batches across epochs", {setTo(field::checkValEveryNEpoch.path, Null{})}),
        changingFix("Validate at the end of an epoch", {unset(field::valCheckInterval.path)}),
        changingFix("Never validate", {setTo(field::limitValBatches.path, 0.0)})};
    context.report(std::move(finding));
}

/// Days, hours, minutes and seconds: four whole numbers with colons between.
bool isDuration(std::string_view text)
{
    int parts = 0;
    while (!text.empty()) {
        const auto colon = text.find(':');
        const std::string_view part = text.substr(0, colon);
        const bool digits = !part.empty() && std::all_of(part.begin(), part.end(), [](unsigned char c) {
            return std::isdigit(c) != 0 || c == ' ';
        });
        if (!digits)
            return false;
        ++parts;
        text = colon == std::string_view::npos ? std::string_view() : text.substr(colon + 1);
    }
    return parts == 4;
}

void intervalTime(RuleContext& context)
{
    const Value& interval = context.at(field::valCheckInterval);
    if (!interval.isString() || isFastDevRun(context) || isDuration(interval.asString()))
        return;
    const std::string text = interval.asString();
    const bool fourParts = std::count(text.begin(), text.end(), ':') == 3;
    Finding finding = findingAt(Severity::WontStart, Stage::Configure, {field::valCheckInterval.path});
    finding.message = "val_check_interval is \"" + text
        + "\"; a time is written as days:hours:minutes:seconds, such as 00:00:15:00.";
    finding.why = "Text is read as a time between validations, in this form alone.";
    finding.source = inLightning("src/lightning/pytorch/trainer/setup.py, _parse_time_interval_seconds");
    finding.engine = "cannot";
    finding.raises = fourParts
        ? "MisconfigurationException: Non-integer component in `val_check_interval` string"
        : "MisconfigurationException: Invalid time format for `val_check_interval`: '" + text
            + "'. Expected 'DD:HH:MM:SS'.";
    finding.fixes = {changingFix("Every 15 minutes", {setTo(field::valCheckInterval.path, "00:00:15:00")}),
                     changingFix("At the end of an epoch", {unset(field::valCheckInterval.path)})};
    context.report(std::move(finding));
}

void shareOfStream(RuleContext& context)
{
    const Value& interval = context.at(field::valCheckInterval);
    if (!interval.isDouble() || interval.asDouble() == 1.0 || isFastDevRun(context) || !isStream(context)
        || !validatesInFit(context))
        return;
    Finding finding = findingAt(Severity::WontStart, Stage::FitStart,
                                {field::valCheckInterval.path, field::dataIterable.path});
    finding.message = "val_check_interval=" + interval.text()
        + " is a share of an epoch, and the training data have no length.";
    finding.why = "Nobody knows when half of a stream has passed.";
    finding.source = inLightning("src/lightning/pytorch/loops/fit_loop.py, _FitLoop.setup_data");
    finding.engine = "same";
    finding.raises = "MisconfigurationException: When using an IterableDataset for `train_dataloader`, "
                     "`Trainer(val_check_interval)` must be time based, `1.0` or an int.";
    finding.fixes = {changingFix("Validate every 100 batches", {setTo(field::valCheckInterval.path, 100)}),
                     changingFix("Validate when the stream ends", {unset(field::valCheckInterval.path)})};
    context.report(std::move(finding));
}

constexpr std::array kRules = {
    Rule{"val-every-epochs", kOfTrainer, {"2.0"}, everyEpochsType},
    Rule{"val-every-zero", kOfTrainer, {"2.0"}, everyEpochsZero},
    Rule{"val-share-without-epochs", kOfTrainer, {"2.0"}, shareWithoutEpochs},
    Rule{"val-interval-zero", kOfTrainer, {"2.0"}, intervalZero},
    Rule{"val-interval-too-long", kOfTrainer, {"2.0"}, intervalTooLong},
    Rule{"val-interval-time", kOfTrainer, {"2.6"}, intervalTime},
    Rule{"val-share-of-stream", kOfTrainer, {"2.0"}, shareOfStream},
};

} // namespace

std::span<const Rule> validationRules()
{
    return kRules;
}

} // namespace mantissa
