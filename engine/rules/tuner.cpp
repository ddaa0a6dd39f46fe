#include "engine/recipe/fields.h"
#include "engine/recipe/path.h"
#include "engine/rules/callback_reading.h"
#include "engine/rules/making.h"
#include "engine/rules/reading.h"
#include "engine/rules/search_reading.h"

#include <algorithm>
#include <array>

namespace mantissa {
namespace {

constexpr const char* kTuner = "src/lightning/pytorch/tuner/tuning.py, ";
constexpr const char* kRateFile = "src/lightning/pytorch/tuner/lr_finder.py, ";
constexpr std::string_view kPassesTrain = "tuner.pass_train";

bool isIn(const RuleContext& context, std::string_view facts, const std::string& name)
{
    return !otherFact(context, facts)[name].isAbsent();
}

bool knowsFields(RuleContext& context)
{
    if (otherFact(context, "fields").isMap() && otherFact(context, "hparams").isMap())
        return true;
    context.assume("mantissa.facts.fields", "The module has the field that holds its learning rate.");
    return false;
}

Fix fieldByHand()
{
    return manualFix("Give the module the field",
                     "def __init__(self, lr=0.1):\n"
                     "    super().__init__()\n"
                     "    self.lr = lr\n"
                     "def configure_optimizers(self):\n"
                     "    return torch.optim.AdamW(self.parameters(), lr=self.lr)");
}

void rateField(RuleContext& context)
{
    for (const Search& search : rateSearches(context)) {
        const std::string named = search.attribute.asString();
        if (!fits(context) || isTrialRun(context) || !search.writesBack.asBool(true) || !knowsFields(context))
            continue;
        const std::vector<std::string> names =
            named.empty() ? std::vector<std::string>{"lr", "learning_rate"} : std::vector{named};
        const bool has = std::any_of(names.begin(), names.end(), [&](const std::string& name) {
            return isIn(context, "fields", name) || isIn(context, "hparams", name)
                || isIn(context, "data.datamodule_hparams", name);
        });
        if (has)
            continue;
        Finding finding =
            findingAt(Severity::WontStart, Stage::Setup, {search.path, "mantissa.facts.fields"});
        finding.message = search.name() + " is to write the rate that it finds into "
            + (named.empty() ? std::string("lr or learning_rate") : named)
            + ", and the module has no such field.";
        finding.why =
            "It searches with the optimizer that configure_optimizers makes, and hands the result over in a "
            "field of the module or of its hparams.";
        finding.source =
            inLightning(kRateFile + std::string(named.empty() ? "_determine_lr_attr_name" : "_lr_find"));
        finding.engine = "cannot";
        finding.raises = named.empty()
            ? "AttributeError: When using the learning rate finder, either `model` or `model.hparams` should "
              "have one "
              "of these fields: ('lr', 'learning_rate')."
            : "AttributeError: The attribute name for the learning rate was set to " + named
                + ", but is not a field of `model` or `model.hparams`.";
        finding.fixes = {changingFix("Only report the rate",
                                     {setTo(search.argumentPath("update_attr"), false)},
                                     "The run then goes on with the rate that the module has."),
                         search.without("Leave the search out"), fieldByHand()};
        context.report(std::move(finding));
    }
}

void rateMode(RuleContext& context)
{
    for (const Search& search : rateSearches(context)) {
        const std::string mode = search.mode.asString("exponential");
        if (mode == "linear" || mode == "exponential")
            continue;
        const std::string path = search.argumentPath("mode");
        Finding finding =
            findingAt(Severity::WontStart, search.isCall ? Stage::Setup : Stage::Configure, {path});
        finding.message =
            "mode is \"" + mode + "\"; the search for a learning rate knows linear and exponential.";
        finding.why =
            "It says how the rate grows from batch to batch. Exponential is what a logarithmic axis shows.";
        finding.source = inCallback("lr_finder", "__init__");
        finding.engine = "cannot";
        finding.raises = "ValueError: `mode` should be either of ('linear', 'exponential')";
        finding.fixes = {changingFix("Exponential, as by default", {unset(path)}),
                         changingFix("Linear", {setTo(path, "linear")})};
        context.report(std::move(finding));
    }
}

void rateOptimizers(RuleContext& context)
{
    const Value& optimizers = context.at(field::numOptimizers);
    for (const Search& search : rateSearches(context)) {
        if (!fits(context) || isTrialRun(context) || !optimizers.isInteger() || optimizers.asInteger() == 1)
            continue;
        Finding finding =
            findingAt(Severity::WontStart, Stage::Setup, {search.path, field::numOptimizers.path});
        finding.message = search.name() + " searches the rate of one optimizer, and the module has "
            + optimizers.text() + ".";
        finding.why = "The rate of the only optimizer is raised from batch to batch; with several nobody "
                      "says of which.";
        finding.source = inLightning(kRateFile + std::string("_exchange_scheduler"));
        finding.engine = "cannot";
        finding.raises = "MisconfigurationException: `model.configure_optimizers()` returned "
            + optimizers.text() + ", but learning rate finder only works with single optimizer";
        finding.fixes = {search.without("Leave the search out")};
        context.report(std::move(finding));
    }
}

/// Calls of the Tuner before the run.
std::vector<Search> calls(const RuleContext& context)
{
    std::vector<Search> found;
    for (auto& list : {batchSearches(context), rateSearches(context)})
        std::copy_if(list.begin(), list.end(), std::back_inserter(found),
                     [](const Search& search) { return search.isCall; });
    return found;
}

void callMethod(RuleContext& context)
{
    constexpr std::array kMethods = {"fit", "validate", "test", "predict"};
    for (const Search& search : calls(context)) {
        const std::string method = search.method.asString("fit");
        const bool known = std::find(kMethods.begin(), kMethods.end(), method) != kMethods.end();
        const bool rate = search.call == "tuner.lr_find";
        if (known && !(rate && method != "fit"))
            continue;
        const std::string path = search.argumentPath("method");
        Finding finding = findingAt(Severity::WontStart, Stage::Setup, {path});
        finding.message = "method is \"" + method + "\"; "
            + (rate ? "a learning rate is searched in fit only."
                    : "it takes fit, validate, test or predict.");
        finding.why = "It names the loop whose batches are tried.";
        finding.source = inLightning(kTuner + std::string(known ? "lr_find" : "_check_tuner_configuration"));
        finding.engine = "cannot";
        finding.raises = known
            ? "MisconfigurationException: method='fit' is the only valid configuration to run lr finder."
            : "ValueError: method '" + method
                + "' is invalid. Should be one of ('fit', 'validate', 'test', 'predict').";
        finding.fixes = {changingFix("Search in fit", {unset(path)})};
        context.report(std::move(finding));
    }
}

void callLoaders(RuleContext& context)
{
    const Value& passesTrain = otherKnob(context, kPassesTrain);
    for (const Search& search : calls(context)) {
        const bool fit = search.method.asString("fit") == "fit";
        if (!passesTrain.isBool() || passesTrain.asBool() == fit)
            continue;
        Finding finding = findingAt(Severity::WontStart, Stage::Setup,
                                    {joinPath("mantissa.knobs", kPassesTrain), search.path});
        finding.message = fit ? "The Tuner is called for fit, and its loaders are passed as dataloaders."
                              : "The Tuner is called for " + search.method.asString()
                + ", and its loaders are passed as train_dataloaders.";
        finding.why =
            "For fit there are two kinds of loaders, each with an argument of its own; for the other loops "
            "there is one, dataloaders.";
        finding.source = inLightning(std::string(kTuner) + "_check_tuner_configuration");
        finding.engine = "cannot";
        finding.raises = fit
            ? "MisconfigurationException: In tuner with method='fit', `dataloaders` argument should be None, "
              "please "
              "consider setting `train_dataloaders` and `val_dataloaders` instead."
            : "MisconfigurationException: In tuner with `method`='" + search.method.asString()
                + "', `train_dataloaders` and `val_dataloaders` arguments should be None, please consider "
                  "setting "
                  "`dataloaders` instead.";
        finding.fixes = {
            safeFix("Pass them by the right name", {unset(joinPath("mantissa.knobs", kPassesTrain))},
                    fit ? "tuner.lr_find(model, train_dataloaders=loader)"
                        : "tuner.scale_batch_size(model, dataloaders=loader, method=\"validate\")")};
        context.report(std::move(finding));
    }
}

void callTwice(RuleContext& context)
{
    for (const Search& search : calls(context)) {
        if (!hasCallback(context, search.callback))
            continue;
        Finding finding = findingAt(
            Severity::WontStart, Stage::Setup,
            {std::string(field::callbacks.path) + "[" + std::string(search.callback) + "]", search.path});
        finding.message =
            "The Tuner is called, and " + std::string(search.callback) + " is among the callbacks.";
        finding.why = "Both would search, the callback once more when the run starts.";
        finding.source =
            inLightning(std::string(kTuner)
                        + (search.call == "tuner.lr_find" ? "_check_lr_find_configuration"
                                                          : "_check_scale_batch_size_configuration"));
        finding.engine = "cannot";
        finding.raises = "ValueError: Trainer is already configured with a `" + std::string(search.callback)
            + "` callback.";
        finding.fixes = {safeFix("Search by the call", {removeEntry(field::callbacks.path, search.callback)}),
                         safeFix("Search by the callback", {unset(search.path)})};
        context.report(std::move(finding));
    }
}

constexpr std::array kRules = {
    Rule{"rate-finder-field", kOfTrainer, {"2.0"}, rateField},
    Rule{"rate-finder-mode", kOfTrainer, {"2.0"}, rateMode},
    Rule{"rate-finder-optimizers", kOfTrainer, {"2.0"}, rateOptimizers},
    Rule{"tuner-method", kOfTrainer, {"2.0"}, callMethod},
    Rule{"tuner-loaders", kOfTrainer, {"2.0"}, callLoaders},
    Rule{"tuner-twice", kOfTrainer, {"2.0"}, callTwice},
};

} // namespace

std::span<const Rule> tunerRules()
{
    return kRules;
}

} // namespace mantissa
