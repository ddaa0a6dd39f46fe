#include "engine/recipe/fields.h"
#include "engine/rules/callback_reading.h"
#include "engine/rules/making.h"
#include "engine/rules/reading.h"

#include <algorithm>
#include <array>

namespace mantissa {
namespace {

constexpr const char* kOptimizerFile = "src/lightning/pytorch/core/optimizer.py, ";

void severalOptimizers(RuleContext& context)
{
    const Value& count = context.at(field::numOptimizers);
    if (count.asInteger(1) < 2 || !fits(context) || !isAutomatic(context))
        return;
    Finding finding = findingAt(Severity::WontStart, Stage::Setup,
                                {field::numOptimizers.path, field::automaticOptimization.path});
    finding.message =
        "configure_optimizers returns " + count.text() + " optimizers, and Lightning is to step them.";
    finding.why =
        "Which of them steps when is not something that can be guessed. With several, training_step calls "
        "them itself.";
    finding.source = inLightning(std::string(kOptimizerFile) + "_validate_multiple_optimizers_support");
    finding.engine = "cannot";
    finding.raises =
        "RuntimeError: Training with multiple optimizers is only supported with manual optimization. Set "
        "`self.automatic_optimization = False`, then access your optimizers in `training_step` with "
        "`opt1, opt2, ... = self.optimizers()`.";
    finding.fixes = {
        changingFix("Step them in training_step", {setTo(field::automaticOptimization.path, false)},
                    "first, second = self.optimizers()\n"
                    "loss = self.loss_of(batch)\n"
                    "first.zero_grad(); self.manual_backward(loss); first.step()"),
        changingFix(
            "Return one optimizer", {setTo(field::numOptimizers.path, 1)},
            "Groups of parameters may have rates of their own:\n"
            "torch.optim.AdamW([{\"params\": body, \"lr\": 1e-4}, {\"params\": head, \"lr\": 1e-3}])"),
    };
    context.report(std::move(finding));
}

void optimizerIndex(RuleContext& context)
{
    const bool takesIndex = otherFact(context, "step_signature")["training"].asString() == "optimizer_idx";
    if (!takesIndex || !fits(context) || !isAutomatic(context))
        return;
    Finding finding = findingAt(Severity::WontStart, Stage::Setup, {"mantissa.facts.step_signature"});
    finding.message = "training_step takes optimizer_idx, which is no longer passed.";
    finding.why =
        "Before Lightning 2.0 the step was called once for each optimizer. Now a module with several calls "
        "them itself.";
    finding.source = inLightning(std::string(kOptimizerFile) + "_validate_multiple_optimizers_support");
    finding.engine = "cannot";
    finding.raises =
        "RuntimeError: Training with multiple optimizers is only supported with manual optimization. "
        "Remove the `optimizer_idx` argument from `training_step`";
    finding.fixes = {changingFix("Remove the argument", {unset("mantissa.facts.step_signature.training")},
                                 "def training_step(self, batch, batch_idx):")};
    context.report(std::move(finding));
}

void unknownReturn(RuleContext& context)
{
    constexpr const char* kPath = "mantissa.facts.optimizer_return";
    const std::string shape = context.at(kPath).asString();
    if ((shape != "pair-without-list" && shape != "string") || !fits(context))
        return;
    Finding finding = findingAt(Severity::WontStart, Stage::Setup, {kPath});
    finding.message = shape == "string"
        ? "configure_optimizers returns a text."
        : "configure_optimizers returns an optimizer and a schedule without lists "
          "around them.";
    finding.why =
        "A pair of two objects could as well be two optimizers; what is returned is told apart by its form.";
    finding.source = inLightning(std::string(kOptimizerFile) + "_configure_optimizers");
    finding.engine = "cannot";
    finding.raises = "MisconfigurationException: Unknown configuration for model optimizers. Output from "
                     "`model.configure_optimizers()` should be one of:";
    finding.fixes = {changingFix("Return a form that is known", {unset(kPath)},
                                 "return optimizer\n"
                                 "return [optimizer], [scheduler]\n"
                                 "return {\"optimizer\": optimizer, \"lr_scheduler\": scheduler}")};
    context.report(std::move(finding));
}

void closureNoFunction(RuleContext& context)
{
    const auto& calls = context.at(field::manualCalls).asList();
    const bool bad = std::any_of(calls.begin(), calls.end(),
                                 [](const Value& call) { return call.asString() == "step_closure_bad"; });
    if (!bad || !startsLoop(context) || isAutomatic(context))
        return;
    Finding finding = findingAt(Severity::Stops, Stage::Optimizer, {field::manualCalls.path});
    finding.message = "training_step calls step(closure=…) with something that is no function.";
    finding.why = "The closure is called to work the loss out once more, as LBFGS needs it.";
    finding.source = inLightning(std::string(kOptimizerFile) + "LightningOptimizer.step");
    finding.engine = "cannot";
    finding.raises =
        "MisconfigurationException: When `optimizer.step(closure)` is called, the closure should be callable";
    ValueList kept;
    for (const Value& call : calls)
        kept.emplace_back(call.asString() == "step_closure_bad" ? Value("step") : call);
    finding.fixes = {changingFix("Step without a closure", {setTo(field::manualCalls.path, std::move(kept))},
                                 "self.manual_backward(loss)\noptimizer.step()")};
    context.report(std::move(finding));
}

/// Two plugins step the optimizer themselves, without the closure that LBFGS calls.
void lbfgsWithoutClosure(RuleContext& context)
{
    if (classOf(context.at("optimizer")) != "LBFGS" || !takesSteps(context))
        return;
    const StrategyReading strategy = readStrategy(context);
    const bool deepSpeed = strategy.family == StrategyFamily::DeepSpeed;
    if (!deepSpeed
        && (strategy.family != StrategyFamily::Fsdp || !readPrecision(context).hasScaler
            || !isAutomatic(context)))
        return;
    Finding finding =
        findingAt(Severity::Stops, Stage::Optimizer, {field::optimizerClass.path, field::strategy.path});
    finding.message = "LBFGS needs a closure in each step, and " + strategy.name
        + (deepSpeed ? " steps without one." : " steps without one when it scales the loss.");
    finding.why = deepSpeed ? "DeepSpeed has its own loop of backward and step. The check that would say so "
                              "sees DeepSpeed's wrapper, not "
                              "the optimizer inside, so the error is Python's."
                            : "With a loss scaler FSDP's precision plugin runs the closure first and has the "
                              "scaler call step, which "
                              "hands none on.";
    finding.source = inLightning("src/lightning/pytorch/plugins/precision/"
                                 + std::string(deepSpeed ? "deepspeed.py" : "fsdp.py") + ", optimizer_step");
    finding.engine = "cannot";
    finding.raises = "TypeError: LBFGS.step() missing 1 required positional argument: 'closure'";
    finding.fixes = {changingFix("Use AdamW", {setTo(field::optimizerClass.path, "torch.optim.AdamW")}),
                     changingFix("Replicate with DDP", {setTo(field::strategy.path, "ddp")},
                                 "Every rank then holds the whole model and the whole optimizer state.")};
    context.report(std::move(finding));
}

void deepSpeedSeveral(RuleContext& context)
{
    const std::int64_t optimizers = context.at(field::numOptimizers).asInteger(1);
    const std::int64_t schedules = context.at(field::numSchedules).asInteger(1);
    if ((optimizers < 2 && schedules < 2) || !fits(context)
        || readStrategy(context).family != StrategyFamily::DeepSpeed)
        return;
    const bool several = optimizers > 1;
    Finding finding =
        findingAt(Severity::WontStart, Stage::Setup,
                  {several ? field::numOptimizers.path : field::numSchedules.path, field::strategy.path});
    finding.message = "DeepSpeed takes one " + std::string(several ? "optimizer" : "schedule")
        + ", and the module has " + std::to_string(several ? optimizers : schedules) + ".";
    finding.why = "Its engine is made around one model, one optimizer and one schedule.";
    finding.source = inLightning("src/lightning/pytorch/strategies/deepspeed.py, _init_optimizers");
    finding.engine = "cannot";
    finding.raises =
        "MisconfigurationException: DeepSpeed currently only supports single optimizer, single optional "
        "scheduler.";
    finding.fixes = {changingFix("One of them",
                                 {setTo(several ? field::numOptimizers.path : field::numSchedules.path, 1)}),
                     changingFix("Replicate with DDP", {setTo(field::strategy.path, "ddp")},
                                 "Every rank then holds the whole model and the whole optimizer state.")};
    context.report(std::move(finding));
}

constexpr std::array kRules = {
    Rule{"optimizers-several", kOfTrainer, {"2.0"}, severalOptimizers},
    Rule{"optimizers-index", kOfTrainer, {"2.0"}, optimizerIndex},
    Rule{"optimizers-unknown-form", kOfTrainer, {"2.0"}, unknownReturn},
    Rule{"optimizers-closure", kOfTrainer, {"2.0"}, closureNoFunction},
    Rule{"lbfgs-without-closure", kOfTrainer, {"2.0"}, lbfgsWithoutClosure},
    Rule{"optimizers-of-deepspeed", kOfTrainer, {"2.0"}, deepSpeedSeveral},
};

} // namespace

std::span<const Rule> returnedRules()
{
    return kRules;
}

} // namespace mantissa
