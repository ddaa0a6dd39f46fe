#include "engine/recipe/fields.h"
#include "engine/rules/callback_reading.h"
#include "engine/rules/making.h"
#include "engine/rules/metric_reading.h"
#include "engine/rules/reading.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace mantissa {
namespace {

constexpr std::string_view kBackbone = "BackboneFinetuning";
constexpr std::string_view kPruning = "ModelPruning";
constexpr const char* kHasBackbone = "mantissa.facts.has_backbone";
constexpr std::array<std::string_view, 4> kMethods = {"ln_structured", "l1_unstructured", "random_structured",
                                                      "random_unstructured"};

std::string callbackPath(std::string_view name)
{
    return std::string(field::callbacks.path) + "[" + std::string(name) + "]";
}

void backboneMissing(RuleContext& context)
{
    if (!hasCallback(context, kBackbone) || !fits(context))
        return;
    const bool late = overrides(context, "configure_model");
    const Value& given = context.at(kHasBackbone);
    if (given.isString()
        || (!late && context.fact(kHasBackbone, true, "The module has an attribute backbone.")))
        return;
    Finding finding = findingAt(Severity::WontStart, Stage::Setup,
                                {late ? field::overrides.path : kHasBackbone, callbackPath(kBackbone)});
    finding.message = late ? "BackboneFinetuning freezes the backbone before configure_model has made it."
                           : "BackboneFinetuning freezes the module's backbone, and it has none.";
    finding.why = late ? "Callbacks are set up first; what configure_model makes does not exist yet."
                       : "The part that is trained later is found by its name, backbone.";
    finding.source = inCallback("finetuning", "freeze_before_training");
    finding.engine = "cannot";
    finding.raises = "AttributeError: '...' object has no attribute 'backbone'";
    finding.fixes = {withoutCallback(kBackbone, "Leave the callback out: everything is trained"),
                     manualFix("Make it in __init__", "self.backbone = torchvision.models.resnet18()")};
    context.report(std::move(finding));
}

void backboneNoModule(RuleContext& context)
{
    const Value& backbone = context.at(kHasBackbone);
    if (!hasCallback(context, kBackbone) || !fits(context) || !backbone.isString())
        return;
    Finding finding = findingAt(Severity::WontStart, Stage::Setup, {kHasBackbone, callbackPath(kBackbone)});
    finding.message = "The module's backbone is " + backbone.text() + ", which is no module.";
    finding.why =
        "Its layers are frozen before the check for a module comes. Flattening what is no module never ends.";
    finding.source = inCallback("finetuning", "flatten_modules");
    finding.engine = "cannot";
    finding.raises = "RecursionError: maximum recursion depth exceeded";
    finding.fixes = {withoutCallback(kBackbone, "Leave the callback out"),
                     manualFix("Make it a module", "self.backbone = torch.nn.Sequential(…)")};
    context.report(std::move(finding));
}

void finetuningDeepSpeed(RuleContext& context)
{
    const std::string_view name =
        hasCallback(context, kBackbone) ? kBackbone : std::string_view("BaseFinetuning");
    if (!hasCallback(context, name) || !isUsed(context)
        || readStrategy(context).family != StrategyFamily::DeepSpeed)
        return;
    Finding finding =
        findingAt(Severity::WontStart, Stage::Setup, {callbackPath(name), field::strategy.path});
    finding.message =
        std::string(name) + " adds parameters to the optimizer later, and DeepSpeed cannot take any more.";
    finding.why = "DeepSpeed flattens and shards the optimizer's parameters when its engine is made.";
    finding.source = inCallback("finetuning", "setup");
    finding.engine = "cannot";
    finding.raises =
        "NotImplementedError: The Finetuning callback does not support running with the DeepSpeed strategy.";
    finding.fixes = {changingFix("Replicate with DDP", {setTo(field::strategy.path, "ddp")},
                                 "Every rank then holds the whole model and the whole optimizer state."),
                     withoutCallback(name, "Leave the callback out: everything is trained")};
    context.report(std::move(finding));
}

void finetuningLbfgs(RuleContext& context)
{
    const auto callbacks = callbacksNamed(context, kBackbone);
    const auto epochs = lastEpoch(context);
    if (callbacks.empty() || classOf(context.at("optimizer")) != "LBFGS" || !takesSteps(context))
        return;
    const std::int64_t from = callbacks.front()["unfreeze_backbone_at_epoch"].asInteger(10);
    if ((epochs && from >= *epochs) || context.at(field::maxSteps).asInteger(-1) != -1)
        return;
    Finding finding =
        findingAt(Severity::Stops, Stage::Optimizer, {field::optimizerClass.path, callbackPath(kBackbone)});
    finding.message = "From epoch " + std::to_string(from)
        + " on the backbone is a second parameter group, and LBFGS takes one.";
    finding.why =
        "The callback adds the backbone to the optimizer as a group of its own when it unfreezes it.";
    finding.source = inTorch("torch/optim/lbfgs.py, step");
    finding.engine = "cannot";
    finding.raises = "AssertionError: Expected exactly one param_group, but got 2";
    finding.fixes = {changingFix("Use AdamW", {setTo(field::optimizerClass.path, "torch.optim.AdamW")}),
                     withoutCallback(kBackbone, "Leave the callback out: everything is trained")};
    context.report(std::move(finding));
}

bool isClassName(const std::string& name)
{
    return name.find('.') != std::string::npos
        || (!name.empty() && std::isupper(static_cast<unsigned char>(name.front())) != 0);
}

void pruningMethod(RuleContext& context)
{
    for (const auto& pruning : callbacksNamed(context, kPruning)) {
        const Value& method = pruning["pruning_fn"];
        std::string name = method.asString();
        if (method.isAbsent() || method.isMap() || isClassName(name)
            || std::find(kMethods.begin(), kMethods.end(), name) != kMethods.end())
            continue;
        Finding finding = pruning.refused("pruning_fn", "__init__");
        finding.source = inCallback("pruning", "__init__");
        finding.message = "There is no pruning method " + method.text() + ".";
        finding.why = "It takes ln_structured, l1_unstructured, random_structured, random_unstructured, or a "
                      "class made "
                      "from torch's BasePruningMethod.";
        finding.engine = "cannot";
        finding.raises = method.isString()
            ? "MisconfigurationException: The provided `pruning_fn` " + name
                + " isn't available in PyTorch's built-in "
                  "functions"
            : "MisconfigurationException: `pruning_fn` is expected to be a str in ['ln_structured', "
              "'l1_unstructured', "
              "'random_structured', 'random_unstructured'] or a PyTorch `BasePruningMethod`.";
        finding.fixes = {pruning.with("pruning_fn", "l1_unstructured", "Prune the smallest weights"),
                         pruning.without("Prune nothing")};
        context.report(std::move(finding));
    }
}

void pruningStructured(RuleContext& context)
{
    for (const auto& pruning : callbacksNamed(context, kPruning)) {
        const std::string name = pruning["pruning_fn"].asString();
        if (!name.ends_with("_structured"))
            continue;
        const bool noDim = !pruning["pruning_dim"].isSet();
        const bool noNorm = name == "ln_structured" && !pruning["pruning_norm"].isSet();
        const bool global = pruning["use_global_unstructured"].asBool(true);
        if (!noDim && !noNorm && !global)
            continue;
        const std::string argument = noDim ? "pruning_dim"
            : noNorm                       ? "pruning_norm"
                                           : "use_global_unstructured";
        Finding finding = pruning.refused(argument, "__init__");
        finding.source = inCallback("pruning", "__init__");
        finding.message = name + " removes whole rows, and "
            + (noDim        ? "pruning_dim, their dimension, is not given."
                   : noNorm ? "pruning_norm, by which they are compared, is not given."
                            : "use_global_unstructured, which compares single weights of all layers, is on.");
        finding.why =
            "Structured methods look at one tensor at a time and need to know along which dimension; "
            "ln_structured needs its norm as well.";
        finding.engine = "cannot";
        finding.raises = noDim ? "MisconfigurationException: When requesting `structured` pruning, the "
                                 "`pruning_dim` should be provided."
            : noNorm
            ? "MisconfigurationException: When requesting `ln_structured` pruning, the `pruning_norm` should "
              "be provided."
            : "MisconfigurationException: Only the \"unstructured\" PRUNING_TYPE is supported with "
              "`use_global_unstructured=True`.";
        finding.fixes = {
            pruning.with("pruning_fn", "l1_unstructured", "Prune the smallest weights instead"),
            changingFix("Give all that it needs",
                        {setTo(pruning.path("pruning_dim"), 0), setTo(pruning.path("pruning_norm"), 1),
                         setTo(pruning.path("use_global_unstructured"), false),
                         setTo(pruning.path("parameter_names"), ValueList{Value("weight")})},
                        "Rows of weights; a bias has one dimension only and is left out.")};
        context.report(std::move(finding));
    }
}

void pruningArguments(RuleContext& context)
{
    for (const auto& pruning : callbacksNamed(context, kPruning)) {
        const Value& amount = pruning["amount"];
        const Value& verbose = pruning["verbose"];
        const auto& names = pruning["parameter_names"].asList();
        const auto odd = std::find_if(names.begin(), names.end(), [](const Value& name) {
            return name.asString() != "weight" && name.asString() != "bias";
        });
        const bool badAmount = amount.isNull() || amount.isList();
        const bool badVerbose = verbose.isNumber() && (verbose.asDouble() < 0.0 || verbose.asDouble() > 2.0);
        if (odd == names.end() && !badAmount && !badVerbose)
            continue;
        const std::string argument = odd != names.end() ? "parameter_names"
            : badAmount                                 ? "amount"
                                                        : "verbose";
        Finding finding = pruning.refused(argument, "__init__");
        finding.source = inCallback("pruning", "__init__");
        finding.message = argument + " of ModelPruning is " + pruning[argument].text() + "; it takes "
            + (odd != names.end() ? "weight and bias."
                   : badAmount    ? "a number or a share."
                                  : "0, 1 or 2.");
        finding.why = "The values are looked at when the callback is made.";
        finding.engine = "cannot";
        finding.raises = odd != names.end()
            ? "MisconfigurationException: The provided `parameter_names` name: " + odd->asString()
                + " isn't in ('weight', 'bias')"
            : badAmount
            ? "MisconfigurationException: `amount` should be provided and be either an int, a float or "
              "Callable function."
            : "MisconfigurationException: `verbose` must be any of (0, 1, 2)";
        finding.fixes = {pruning.byDefault(argument, "Take its default"), pruning.without("Prune nothing")};
        context.report(std::move(finding));
    }
}

void pruningNothing(RuleContext& context)
{
    if (!hasCallback(context, kPruning) || !startsLoop(context) || !overrides(context, "configure_model"))
        return;
    Finding finding =
        findingAt(Severity::Stops, Stage::Record, {field::overrides.path, callbackPath(kPruning)});
    finding.message = "ModelPruning looks for weights before configure_model has made any.";
    finding.why = "Callbacks are set up first. It keeps the list of what it found then, which is empty, and "
                  "joins it at "
                  "the end of the first epoch.";
    finding.source = inCallback("pruning", "_apply_global_pruning");
    finding.engine = "cannot";
    finding.raises = "ValueError: torch.cat(): expected a non-empty list of Tensors";
    finding.fixes = {
        withoutCallback(kPruning, "Prune nothing"),
        manualFix("Make the layers in __init__", "Layers that __init__ makes are found by the callback.")};
    context.report(std::move(finding));
}

void pruningBias(RuleContext& context)
{
    for (const auto& pruning : callbacksNamed(context, kPruning)) {
        const std::string name = pruning["pruning_fn"].asString();
        const bool complete = pruning["pruning_dim"].isSet()
            && !pruning["use_global_unstructured"].asBool(true)
            && (name != "ln_structured" || pruning["pruning_norm"].isSet());
        const Value& names = pruning["parameter_names"];
        const auto& list = names.asList();
        const bool withBias = names.isAbsent() || std::any_of(list.begin(), list.end(), [](const Value& one) {
                                  return one.asString() == "bias";
                              });
        if (!name.ends_with("_structured") || !complete || !withBias || !startsLoop(context))
            continue;
        Finding finding = findingAt(Severity::Stops, Stage::Record, {pruning.path("parameter_names")});
        finding.message = name + " is to prune weights and biases, and a bias has no rows.";
        finding.why =
            "Without parameter_names both are pruned; structured methods need tensors of two dimensions and "
            "more.";
        finding.source = inTorch("torch/nn/utils/prune.py, _validate_structured_pruning");
        finding.engine = "cannot";
        finding.raises = "ValueError: Structured pruning can only be applied to multidimensional tensors.";
        finding.fixes = {
            pruning.with("parameter_names", ValueList{Value("weight")}, "Prune the weights only")};
        context.report(std::move(finding));
    }
}

void pruningPrecision(RuleContext& context)
{
    const auto epochs = lastEpoch(context);
    if (!hasCallback(context, kPruning) || !startsLoop(context) || (epochs && *epochs < 2)
        || isTrialRun(context) || context.at(field::maxSteps).asInteger(-1) != -1)
        return;
    const PrecisionReading precision = readPrecision(context);
    const StrategyFamily family = readStrategy(context).family;
    const bool plain = family == StrategyFamily::Single || family == StrategyFamily::Ddp;
    if (!plain || !precision.effective.ends_with("-true") || precision.effective == "32-true")
        return;
    Finding finding = findingAt(Severity::Stops, Stage::Forward, {precision.path, callbackPath(kPruning)});
    finding.message =
        "ModelPruning puts the weights back in 32 bits, and the run is in " + precision.effective + ".";
    finding.why =
        "The pruned weight is made from a copy that was kept before the model was converted. The epoch after "
        "the first pruning multiplies two types.";
    finding.source = inCallback("pruning", "_apply_global_pruning");
    finding.engine = "cannot";
    finding.raises = "RuntimeError: mat1 and mat2 must have the same dtype";
    finding.fixes = {changingFix("Run in 32 bits", {setTo(precision.settingPath, "32-true")}),
                     withoutCallback(kPruning, "Prune nothing")};
    context.report(std::move(finding));
}

constexpr std::array kRules = {
    Rule{"finetuning-no-backbone", kOfTrainer, {"2.0"}, backboneMissing},
    Rule{"finetuning-backbone-type", kOfTrainer, {"2.0"}, backboneNoModule},
    Rule{"finetuning-deepspeed", kOfTrainer, {"2.0"}, finetuningDeepSpeed},
    Rule{"finetuning-lbfgs", kOfTrainer, {"2.0"}, finetuningLbfgs},
    Rule{"pruning-method", kOfTrainer, {"2.0"}, pruningMethod},
    Rule{"pruning-structured", kOfTrainer, {"2.0"}, pruningStructured},
    Rule{"pruning-arguments", kOfTrainer, {"2.0"}, pruningArguments},
    Rule{"pruning-nothing", kOfTrainer, {"2.0"}, pruningNothing},
    Rule{"pruning-bias", kOfTrainer, {"2.0"}, pruningBias},
    Rule{"pruning-precision", kOfTrainer, {"2.0"}, pruningPrecision},
};

} // namespace

std::span<const Rule> finetuningRules()
{
    return kRules;
}

} // namespace mantissa
