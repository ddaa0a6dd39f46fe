#include "engine/recipe/fields.h"
#include "engine/rules/making.h"
#include "engine/rules/run_reading.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace mantissa {
namespace {

constexpr std::string_view kValuePath = "mantissa.facts.clip_gradients.val";
constexpr std::string_view kAlgorithmPath = "mantissa.facts.clip_gradients.algorithm";

/// The module calls self.clip_gradients, in training_step or in configure_gradient_clipping.
bool callsClip(RuleContext& context)
{
    if (!takesSteps(context))
        return false;
    if (!isAutomatic(context)) {
        const auto& calls = context.at(field::manualCalls).asList();
        return std::any_of(calls.begin(), calls.end(),
                           [](const Value& call) { return call.asString() == "clip_gradients"; });
    }
    return overrides(context, "configure_gradient_clipping")
        && !context.fact(field::ownClipping.path, false,
                         "The module's configure_gradient_clipping calls self.clip_gradients.");
}

std::string lowered(std::string text)
{
    std::transform(text.begin(), text.end(), text.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return text;
}

Finding atCall(std::string_view path, const Field& flag)
{
    Finding finding = findingAt(Severity::Stops, Stage::Clip, {path, flag.path});
    finding.source = inLightning("src/lightning/pytorch/core/module.py, LightningModule.clip_gradients");
    finding.engine = "cannot";
    return finding;
}

void otherValue(RuleContext& context)
{
    const Value& passed = context.at(kValuePath);
    const Value& flag = context.at(field::clipValue);
    if (!passed.isSet() || !flag.isSet() || !callsClip(context))
        return;
    if (passed == flag || (passed.isNumber() && flag.isNumber() && passed.asDouble() == flag.asDouble()))
        return;
    Finding finding = atCall(kValuePath, field::clipValue);
    finding.message = "clip_gradients is called with the threshold " + passed.text()
        + ", and gradient_clip_val is " + flag.text() + ".";
    finding.why =
        "The call may repeat what the flag says; of two thresholds neither is taken for the better one.";
    finding.raises = "MisconfigurationException: You have set `Trainer(gradient_clip_val=" + flag.text()
        + ")` and have passed `clip_gradients(gradient_clip_val=" + passed.text()
        + ")`. Please use only one of them.";
    finding.fixes = {
        changingFix("Clip at " + passed.text() + ", as the call says", {unset(field::clipValue.path)}),
        changingFix("Clip at " + flag.text() + ", as the flag says", {unset(kValuePath)},
                    "In the hook: pass on the argument gradient_clip_val.")};
    context.report(std::move(finding));
}

void otherAlgorithm(RuleContext& context)
{
    const Value& passed = context.at(kAlgorithmPath);
    const Value& flag = context.at(field::clipAlgorithm);
    if (!passed.isString() || !flag.isString() || lowered(passed.asString()) == lowered(flag.asString())
        || !callsClip(context))
        return;
    Finding finding = atCall(kAlgorithmPath, field::clipAlgorithm);
    finding.message = "clip_gradients is called with the algorithm " + passed.asString()
        + ", and gradient_clip_algorithm is " + flag.asString() + ".";
    finding.why = "The call may repeat what the flag says; of two ways neither is taken for the better one.";
    finding.raises = "MisconfigurationException: You have set `Trainer(gradient_clip_algorithm='"
        + flag.asString() + "')` and have passed `clip_gradients(gradient_clip_algorithm='"
        + passed.asString() + "') Please use only one of them.";
    finding.fixes = {changingFix("Clip by " + passed.asString() + ", as the call says",
                                 {unset(field::clipAlgorithm.path)}),
                     changingFix("Clip by " + flag.asString() + ", as the flag says", {unset(kAlgorithmPath)},
                                 "In the hook: pass on the argument gradient_clip_algorithm.")};
    context.report(std::move(finding));
}

void valueType(RuleContext& context)
{
    const Value& passed = context.at(kValuePath);
    if ((!passed.isString() && !passed.isList() && !passed.isMap()) || context.at(field::clipValue).isSet()
        || !callsClip(context))
        return;
    Finding finding = atCall(kValuePath, field::clipValue);
    finding.message = "clip_gradients is called with the threshold " + passed.text()
        + (passed.isString() ? ", as text; it takes a number." : "; it takes a number.");
    finding.why = "The type is looked at before gradients are touched; nothing is converted.";
    finding.raises = "TypeError: `gradient_clip_val` should be an int or a float. Got " + passed.text() + ".";
    finding.fixes = {manualFix("Pass a number", "self.clip_gradients(optimizer, gradient_clip_val=0.5)"),
                     changingFix("Pass none: nothing is clipped", {unset(kValuePath)})};
    context.report(std::move(finding));
}

void algorithmUnknown(RuleContext& context)
{
    const Value& passed = context.at(kAlgorithmPath);
    const std::string name = lowered(passed.asString());
    if (!passed.isString() || name == "norm" || name == "value" || context.at(field::clipAlgorithm).isSet()
        || !callsClip(context))
        return;
    Finding finding = atCall(kAlgorithmPath, field::clipAlgorithm);
    finding.message =
        "clip_gradients is called with the algorithm " + passed.asString() + "; there are norm and value.";
    finding.why = "The name is looked up at each call.";
    finding.raises = "MisconfigurationException: `gradient_clip_algorithm` " + passed.asString()
        + " is invalid. Allowed algorithms: ['value', 'norm'].";
    finding.fixes = {changingFix("By norm", {setTo(kAlgorithmPath, "norm")}),
                     changingFix("By value", {setTo(kAlgorithmPath, "value")})};
    context.report(std::move(finding));
}

/// The fused kernel behind clipping by value does not take an empty list; clipping by norm does.
void nothingToClip(RuleContext& context)
{
    const ClipReading clip = readClip(context);
    if (context.at(field::trainingStepOutput).asString() != "none" || !clip.active || clip.byNorm
        || clip.byHand || !startsLoop(context) || context.at(field::numOptimizers) == Value(0)
        || readStrategy(context).family == StrategyFamily::DeepSpeed)
        return;
    Finding finding = findingAt(Severity::Stops, Stage::Clip, {clip.path, field::trainingStepOutput.path});
    finding.message =
        "Gradients are clipped by value (" + clip.text + "), and training_step returns None: there are none.";
    finding.why = "torch clips all gradients by value in one call, which does not accept that there is "
                  "nothing to clip.";
    finding.source = inLightning("src/lightning/pytorch/plugins/precision/precision.py, clip_grad_by_value");
    finding.engine = "cannot";
    finding.raises = "RuntimeError: Expected !nested_tensorlist[0].empty() to be true, but got false.";
    finding.fixes = {changingFix("Clip by norm", {setTo(field::clipAlgorithm.path, "norm")}),
                     manualFix("Return a loss of zero", "return 0.0 * self(batch).sum()")};
    context.report(std::move(finding));
}

constexpr std::array kRules = {
    Rule{"clip-call-value", kOfTrainer, {"2.0"}, otherValue},
    Rule{"clip-call-algorithm", kOfTrainer, {"2.0"}, otherAlgorithm},
    Rule{"clip-call-type", kOfTrainer, {"2.0"}, valueType},
    Rule{"clip-call-unknown", kOfTrainer, {"2.0"}, algorithmUnknown},
    Rule{"clip-value-no-gradient", kOfTrainer, {"2.0"}, nothingToClip},
};

} // namespace

std::span<const Rule> clipCallRules()
{
    return kRules;
}

} // namespace mantissa
