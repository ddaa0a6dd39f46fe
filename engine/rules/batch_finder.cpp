#include "engine/recipe/fields.h"
#include "engine/rules/callback_reading.h"
#include "engine/rules/making.h"
#include "engine/rules/reading.h"
#include "engine/rules/search_reading.h"

#include <array>

namespace mantissa {
namespace {

constexpr std::string_view kBatchFinder = "BatchSizeFinder";
constexpr const char* kTuner = "src/lightning/pytorch/tuner/tuning.py, ";

/// Made for several processes, even where there is only one.
bool isDistributed(const RuleContext& context)
{
    const StrategyReading strategy = readStrategy(context);
    const Value& devices = context.at(field::devices);
    const auto gpus = context.target().gpus;
    const bool all = devices.asInteger() == -1 || devices.asString() == "auto" || devices.asString() == "-1";
    const std::string accelerator = context.at(field::accelerator).asString("auto");
    if (strategy.name == "auto" && all && gpus && *gpus > 1 && accelerator != "cpu")
        return true;
    return strategy.family != StrategyFamily::Single && strategy.family != StrategyFamily::Other;
}

void batchesDistributed(RuleContext& context)
{
    for (const Search& search : batchSearches(context)) {
        if (!isUsed(context) || !isDistributed(context))
            continue;
        Finding finding = findingAt(Severity::WontStart, Stage::Setup,
                                    {search.path, field::strategy.path, field::devices.path});
        finding.message = search.name() + " searches a batch size, and the strategy "
            + readStrategy(context).name + " is made for several processes.";
        finding.why =
            "It tries batches until memory runs out. Where several processes take part, one that runs out "
            "leaves the others waiting. Any strategy of that kind is refused, even with one device.";
        finding.source = search.isCall
            ? inLightning(std::string(kTuner) + "_check_scale_batch_size_configuration")
            : inCallback("batch_size_finder", "setup");
        finding.engine = "cannot";
        finding.raises = search.isCall
            ? "ValueError: Tuning the batch size is currently not supported with distributed strategies."
            : "MisconfigurationException: The Batch size finder is not supported with distributed "
              "strategies.";
        finding.fixes = {search.without("Leave the search out"),
                         changingFix("Search on one device",
                                     {setTo(field::strategy.path, "auto"), setTo(field::devices.path, 1),
                                      unset(field::numNodes.path)},
                                     "Take the number that is found into the set-up for all devices.")};
        context.report(std::move(finding));
    }
}

void batchesOfLoaders(RuleContext& context)
{
    const std::string source = otherFact(context, "data.source").asString("datamodule");
    if (!isUsed(context) || source == "module" || source == "datamodule")
        return;
    for (const Search& search : batchSearches(context)) {
        Finding finding =
            findingAt(Severity::WontStart, Stage::Setup, {search.path, "mantissa.facts.data.source"});
        finding.message = search.name() + " searches a batch size, and loaders are passed to the call.";
        finding.why =
            "A loader's batch size cannot be changed once it is made. The search sets a field of the module "
            "or data module and has the loaders made anew.";
        finding.source = inCallback("batch_size_finder", "setup");
        finding.engine = "cannot";
        finding.raises =
            "MisconfigurationException: The Batch size finder cannot be used with dataloaders passed "
            "directly to `.fit()`.";
        finding.fixes = {search.without("Leave the search out"),
                         manualFix("Make the loaders in the data module",
                                   "def train_dataloader(self):\n"
                                   "    return DataLoader(self.train_set, batch_size=self.batch_size)")};
        context.report(std::move(finding));
        return;
    }
}

void batchesField(RuleContext& context)
{
    const Value& fields = otherFact(context, "fields");
    const Value& parameters = otherFact(context, "hparams");
    const Value& ofData = otherFact(context, "data.datamodule_hparams");
    for (const auto& finder : callbacksNamed(context, kBatchFinder)) {
        const std::string name = finder["batch_arg_name"].asString("batch_size");
        const std::string source = otherFact(context, "data.source").asString();
        const bool known = fields.isMap() && parameters.isMap() && source == "module";
        if (!known || !isUsed(context) || isDistributed(context) || !fields[name].isAbsent()
            || !parameters[name].isAbsent() || !ofData[name].isAbsent())
            continue;
        Finding finding =
            findingAt(Severity::WontStart, Stage::Setup, {finder.path(), "mantissa.facts.fields"});
        finding.message =
            "BatchSizeFinder changes " + name + ", and neither module nor data module has such a field.";
        finding.why =
            "The search writes each size it tries into that field, from which the loaders are made.";
        finding.source = inCallback("batch_size_finder", "setup");
        finding.engine = "cannot";
        finding.raises = "MisconfigurationException: Field " + name
            + " not found in `model`, `datamodule`, nor their `hparams` attributes.";
        finding.fixes = {finder.without("Leave the search out"),
                         manualFix("Give the module the field",
                                   "self." + name
                                       + " = 32 in __init__, and "
                                         "DataLoader(…, batch_size=self."
                                       + name + ")")};
        context.report(std::move(finding));
    }
}

void batchesMode(RuleContext& context)
{
    for (const Search& search : batchSearches(context)) {
        const std::string mode = search.mode.asString("power");
        if (mode == "power" || mode == "binsearch")
            continue;
        Finding finding = findingAt(Severity::WontStart, search.isCall ? Stage::Setup : Stage::Configure,
                                    {search.argumentPath("mode")});
        finding.message = "mode is \"" + mode + "\"; the search for a batch size knows power and binsearch.";
        finding.why = "power doubles until memory runs out; binsearch then narrows the size down.";
        finding.source = inCallback("batch_size_finder", "__init__");
        finding.engine = "cannot";
        finding.raises = "ValueError: `mode` should be either of ('power', 'binsearch')";
        finding.fixes = {changingFix("Powers of two", {unset(search.argumentPath("mode"))}),
                         changingFix("Narrow it down", {setTo(search.argumentPath("mode"), "binsearch")})};
        context.report(std::move(finding));
    }
}

void batchesMargin(RuleContext& context)
{
    for (const Search& search : batchSearches(context)) {
        if (!search.margin.isNumber() || (search.margin.asDouble() >= 0.0 && search.margin.asDouble() < 1.0))
            continue;
        Finding finding = findingAt(Severity::WontStart, search.isCall ? Stage::Setup : Stage::Configure,
                                    {search.argumentPath("margin")});
        finding.message =
            "margin=" + search.margin.text() + " is no share: it takes 0 or more, and less than 1.";
        finding.why = "The size that is found is made smaller by that share.";
        finding.source = inCallback("batch_size_finder", "__init__");
        finding.engine = "cannot";
        finding.raises =
            "AssertionError: `margin` should be between 0 and 1. Found margin=" + search.margin.text();
        finding.fixes = {changingFix("The share by default, 0.05", {unset(search.argumentPath("margin"))})};
        context.report(std::move(finding));
    }
}

void batchesPlateau(RuleContext& context)
{
    const bool plateau = classOf(context.at("lr_scheduler")) == "ReduceLROnPlateau";
    if (!plateau || context.at(field::scheduleInterval).asString() != "step"
        || context.at(field::scheduleMonitor).asString().empty()
        || !context.at(field::scheduleStrict).asBool(true) || !startsLoop(context) || isTrialRun(context))
        return;
    const auto found = batchSearches(context);
    if (found.empty() || !isAutomatic(context))
        return;
    Finding finding =
        findingAt(Severity::Stops, Stage::FitStart, {field::scheduleInterval.path, found.front().path});
    finding.message = "ReduceLROnPlateau looks for " + context.at(field::scheduleMonitor).asString()
        + " at each step, and there are no metrics while a batch size is searched.";
    finding.why =
        "The search runs steps with logging switched off. A schedule that steps by epoch is not reached "
        "in them.";
    finding.source =
        inLightning("src/lightning/pytorch/loops/training_epoch_loop.py, _update_learning_rates");
    finding.engine = "cannot";
    finding.raises = "MisconfigurationException: ReduceLROnPlateau conditioned on metric "
        + context.at(field::scheduleMonitor).asString()
        + " which is not available. Available metrics are: [].";
    finding.fixes = {changingFix("Look at each epoch", {setTo(field::scheduleInterval.path, "epoch")}),
                     changingFix("Tolerate a missing metric", {setTo(field::scheduleStrict.path, false)}),
                     found.front().without("Leave the search out")};
    context.report(std::move(finding));
}

constexpr std::array kRules = {
    Rule{"batch-finder-distributed", kOfTrainer, {"2.0"}, batchesDistributed},
    Rule{"batch-finder-loaders", kOfTrainer, {"2.0"}, batchesOfLoaders},
    Rule{"batch-finder-field", kOfTrainer, {"2.0"}, batchesField},
    Rule{"batch-finder-mode", kOfTrainer, {"2.0"}, batchesMode},
    Rule{"batch-finder-margin", kOfTrainer, {"2.6"}, batchesMargin},
    Rule{"batch-finder-plateau", kOfTrainer, {"2.0"}, batchesPlateau},
};

} // namespace

std::span<const Rule> batchFinderRules()
{
    return kRules;
}

} // namespace mantissa
