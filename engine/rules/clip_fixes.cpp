#include "engine/rules/clip_fixes.h"

#include "engine/recipe/fields.h"
#include "engine/rules/making.h"

namespace mantissa {
namespace {

/// Nothing where the file does not make the optimizer.
std::vector<Edit> plainOptimizer(const RuleContext& context, const OptimizerReading& optimizer)
{
    if (optimizer.fused)
        return {setTo(field::fused.path, false)};
    const Value& written = context.at("optimizer");
    if (!written.isSet())
        return {};
    ValueMap plain = {{"class_path", Value("torch.optim.AdamW")}};
    if (const Value& rate = context.at(field::learningRate); rate.isSet())
        plain.emplace_back("init_args", ValueMap{{"lr", rate}});
    std::vector<Edit> edits = {setTo("optimizer", std::move(plain))};
    if (context.at(field::selfUnscaling).isSet())
        edits.push_back(unset(field::selfUnscaling.path));
    return edits;
}

Fix plainOptimizerFix(const RuleContext& context, const OptimizerReading& optimizer)
{
    auto edits = plainOptimizer(context, optimizer);
    if (edits.empty())
        return manualFix(
            "Make an optimizer that leaves unscaling to the scaler",
            "In configure_optimizers: torch.optim.AdamW(self.parameters(), lr=self.lr, fused=False)");
    if (optimizer.fused)
        return safeFix(
            "Use " + optimizer.name + " without fused", std::move(edits),
            "The same algorithm; sums are rounded in another order, and a step takes a little longer.");
    return changingFix("Use AdamW of torch instead of " + optimizer.name, std::move(edits),
                       "An optimizer of torch.optim that is not fused leaves unscaling to the scaler.");
}

std::vector<Edit> withoutClipping(const RuleContext& context, const ClipReading& clip)
{
    std::vector<Edit> edits = {unset(clip.path)};
    if (context.at(field::clipAlgorithm).isSet() && clip.path == field::clipValue.path)
        edits.push_back(unset(field::clipAlgorithm.path));
    return edits;
}

Fix withoutClippingFix(const RuleContext& context, const ClipReading& clip)
{
    return changingFix("Do not clip", withoutClipping(context, clip),
                       clip.byHand ? "Leave the call of clip_gradients out of training_step."
                                   : "A step with a large gradient is then taken in full.");
}

Fix byValueFix(const ClipReading& clip)
{
    const std::string path =
        clip.algorithmPath.empty() ? std::string(field::clipAlgorithm.path) : clip.algorithmPath;
    return changingFix(
        "Clip by value", {setTo(path, "value")},
        "Each element is cut off at the threshold by itself: the direction of the step changes, and the "
        "threshold has another meaning.");
}

Fix together(std::string title, std::vector<Edit> first, const std::vector<Edit>& second, std::string text)
{
    first.insert(first.end(), second.begin(), second.end());
    return changingFix(std::move(title), std::move(first), std::move(text));
}

/// The wrapped model knows the norm over all shards; a hook of the module can ask it.
Fix ownHookFix(const RuleContext& context)
{
    ValueList hooks = context.at(field::overrides).asList();
    if (!overrides(context, "configure_gradient_clipping"))
        hooks.emplace_back("configure_gradient_clipping");
    return changingFix("Clip by norm in a hook of the module",
                       {setTo(field::overrides.path, std::move(hooks)), setTo(field::ownClipping.path, true)},
                       "In the module:\n"
                       "    def configure_gradient_clipping(self, optimizer, gradient_clip_val=None,\n"
                       "                                    gradient_clip_algorithm=None):\n"
                       "        self.trainer.model.clip_grad_norm_(gradient_clip_val)");
}

/// Fabric's program makes the call, so it can leave it out.
Fix askFirstFix()
{
    return manualFix("Ask the optimizer before clipping",
                     "if not getattr(optimizer, \"_step_supports_amp_scaling\", False):\n"
                     "    fabric.clip_gradients(model, optimizer, max_norm=1.0)\n"
                     "A step with a large gradient is taken in full where the optimizer unscales by itself.");
}

constexpr const char* kReplicaCost = "Every rank then holds the whole model and the whole optimizer state.";

} // namespace

std::vector<Fix> selfUnscalingFixes(const RuleContext& context, const ClipConflict& conflict)
{
    const std::string& precision = conflict.precision.settingPath;
    std::vector<Fix> fixes = {plainOptimizerFix(context, conflict.optimizer)};
    fixes.push_back(changingFix("Use bf16-mixed, which has no loss scale", {setTo(precision, "bf16-mixed")},
                                "Eight bits of precision instead of eleven, with the range of float32."));
    fixes.push_back(changingFix("Use full precision", {setTo(precision, "32-true")},
                                "No loss scale; activations take twice the memory."));
    if (conflict.precision.plugin == "MixedPrecision")
        fixes.push_back(
            changingFix("Use bf16-true", {setTo(precision, "bf16-true")},
                        "Weights and optimizer state are bfloat16 too: small updates may vanish."));
    fixes.push_back(withoutClippingFix(context, conflict.clip));
    if (context.onFabric())
        fixes.push_back(askFirstFix());
    return fixes;
}

std::vector<Fix> fsdpNormFixes(const RuleContext& context, const ClipConflict& conflict)
{
    std::vector<Fix> fixes;
    const Fix byValue = byValueFix(conflict.clip);
    const std::vector<Edit> replicate = {setTo(field::strategy.path, "ddp")};
    if (conflict.optimizer.selfUnscaling && conflict.precision.isMixed()) {
        // Either way out alone leads into the next trouble: together they do not.
        const auto plain = plainOptimizer(context, conflict.optimizer);
        if (conflict.precision.hasScaler)
            fixes.push_back(together("Clip by value, with an optimizer that is not fused", byValue.edits,
                                     plain, byValue.text));
        fixes.push_back(together("Replicate instead of sharding, with an optimizer that is not fused",
                                 replicate, plain, kReplicaCost));
    }
    fixes.push_back(byValue);
    fixes.push_back(changingFix("Replicate instead of sharding, and clip by norm", replicate, kReplicaCost));
    fixes.push_back(withoutClippingFix(context, conflict.clip));
    if (!conflict.clip.byHand)
        fixes.push_back(ownHookFix(context));
    return fixes;
}

} // namespace mantissa
