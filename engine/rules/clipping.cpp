#include "engine/recipe/fields.h"
#include "engine/rules/clip_fixes.h"
#include "engine/rules/making.h"
#include "engine/rules/reading.h"

#include <array>

namespace mantissa {
namespace {

/// Clipping that meets an optimizer which divides by the loss scale itself. Nothing where there is no such
/// conflict.
struct Conflict {
    bool present = false;
    PrecisionReading precision;
    OptimizerReading optimizer;
    ClipReading clip;
};

Conflict readConflict(RuleContext& context, std::string_view plugin)
{
    Conflict conflict;
    conflict.precision = readPrecision(context);
    if (conflict.precision.plugin != plugin || !conflict.precision.isMixed() || !takesSteps(context))
        return conflict;
    conflict.clip = readClip(context);
    if (!conflict.clip.active)
        return conflict;
    conflict.optimizer = readOptimizer(context);
    conflict.present = conflict.optimizer.selfUnscaling;
    return conflict;
}

std::string optimizerWords(const OptimizerReading& optimizer)
{
    return optimizer.name + (optimizer.fused ? " with fused=true" : "");
}

/// The settings at fault, most to blame first.
std::vector<std::string> pathsOf(const Conflict& conflict)
{
    const std::string optimizer(conflict.optimizer.fused ? field::fused.path : field::optimizerClass.path);
    return {optimizer, conflict.clip.path, conflict.precision.path};
}

/// Fabric asks the precision to unscale before it clips, and a scaled precision refuses for such an
/// optimizer.
Finding unscaleRefused(const RuleContext& context, const Conflict& conflict)
{
    const bool sharded = conflict.precision.plugin == "FSDPPrecision";
    Finding finding = findingAt(Severity::Stops, Stage::Unscale, {});
    finding.paths = pathsOf(conflict);
    finding.message = optimizerWords(conflict.optimizer) + " divides by the loss scale of "
        + conflict.precision.effective + " itself, so " + (sharded ? "FSDP" : "mixed precision")
        + " will not unscale before clipping with " + conflict.clip.text + ".";
    finding.why =
        "Clipping needs true gradients, so it asks the precision to unscale first. An optimizer that "
        "announces _step_supports_amp_scaling expects scaled gradients in its step; the precision "
        "does not know how to tell it that they no longer are, and refuses.";
    finding.source =
        inLightning(sharded ? "src/lightning/fabric/plugins/precision/fsdp.py, unscale_gradients"
                            : "src/lightning/fabric/plugins/precision/amp.py, unscale_gradients");
    finding.engine = "better: unscales once, clips, and hands the fused step no scale";
    finding.raises = "NotImplementedError: Gradient clipping is not implemented for optimizers handling the "
                     "unscaling.";
    finding.fixes = selfUnscalingFixes(context, {conflict.precision, conflict.optimizer, conflict.clip});
    return finding;
}

void fsdpSelfUnscaling(RuleContext& context)
{
    const Conflict conflict = readConflict(context, "FSDPPrecision");
    if (conflict.present && conflict.precision.hasScaler)
        context.report(unscaleRefused(context, conflict));
}

/// The Trainer's mixed precision never looks whether there is a scaler: bf16-mixed is refused like 16-mixed.
void ampSelfUnscaling(RuleContext& context)
{
    const Conflict conflict = readConflict(context, "MixedPrecision");
    if (!conflict.present || (context.onFabric() && !conflict.precision.hasScaler))
        return;
    if (context.onFabric()) {
        context.report(unscaleRefused(context, conflict));
        return;
    }
    Finding finding = findingAt(Severity::Stops, Stage::Clip, {});
    finding.paths = pathsOf(conflict);
    finding.message = optimizerWords(conflict.optimizer) + " divides by the loss scale itself, so "
        + conflict.precision.effective + " refuses to clip with " + conflict.clip.text + ".";
    finding.why = conflict.precision.hasScaler
        ? "The Trainer unscales before it clips, but not for an optimizer that does it in its own step; "
          "it would clip gradients that are still scaled, and refuses instead."
        : "The check looks at the optimizer alone, not at whether there is a loss scale: it was run, and "
          "bf16-mixed is refused just as 16-mixed is.";
    finding.source = inLightning("src/lightning/pytorch/plugins/precision/amp.py, clip_gradients");
    finding.engine = "better: unscales once, clips, and hands the fused step no scale";
    finding.raises = "RuntimeError: The current optimizer, " + conflict.optimizer.name
        + ", does not allow for gradient clipping because it performs unscaling of gradients internally. "
          "HINT: Are you using a 'fused' optimizer?";
    finding.fixes = selfUnscalingFixes(context, {conflict.precision, conflict.optimizer, conflict.clip});
    context.report(std::move(finding));
}

/// The Trainer's FSDP precision lacks the check: scaled gradients are clipped without a word.
void fsdpClipScaled(RuleContext& context)
{
    const Conflict conflict = readConflict(context, "FSDPPrecision");
    if (!conflict.present || !conflict.precision.hasScaler || conflict.clip.byNorm)
        return;
    Finding finding = findingAt(Severity::Differs, Stage::Clip, {});
    finding.paths = pathsOf(conflict);
    finding.message = "The threshold of " + conflict.clip.text
        + " meets gradients that are still scaled: at a loss "
          "scale of 65536 it acts like "
        + Value(conflict.clip.value / 65536.0).text() + ".";
    finding.why = optimizerWords(conflict.optimizer)
        + " divides by the loss scale in its own step, after clipping. "
          "The FSDP precision of the Trainer does not check for that, and clips what is there.";
    finding.source = inLightning("src/lightning/pytorch/plugins/precision/fsdp.py, optimizer_step");
    finding.engine = "better: clips true gradients";
    finding.fixes = selfUnscalingFixes(context, {conflict.precision, conflict.optimizer, conflict.clip});
    context.report(std::move(finding));
}

void fsdpClipNorm(RuleContext& context)
{
    const PrecisionReading precision = readPrecision(context);
    if (precision.plugin != "FSDPPrecision" || !takesSteps(context))
        return;
    const ClipReading clip = readClip(context);
    if (!clip.active || !clip.byNorm)
        return;
    Finding finding = findingAt(Severity::Stops, Stage::Clip, {clip.path, field::strategy.path});
    if (!clip.algorithmPath.empty())
        finding.paths.insert(finding.paths.begin() + 1, clip.algorithmPath);
    finding.message = "The Trainer does not clip by norm under FSDP, as " + clip.text
        + (clip.algorithmPath.empty() ? " does by default." : " asks for.");
    finding.why =
        "The norm is one number over all shards of all ranks; the Trainer's FSDP precision does not compute "
        "it, and says so only when the first optimizer step wants to clip.";
    finding.source = inLightning("src/lightning/pytorch/plugins/precision/fsdp.py, clip_grad_by_norm");
    finding.engine = "better: adds up the squares of all shards and clips by the whole norm";
    finding.raises =
        "MisconfigurationException: `gradient_clip_algorithm='norm'` is currently not supported for "
        "`FSDPPrecision`";
    finding.fixes = fsdpNormFixes(context, {precision, readOptimizer(context), clip});
    context.report(std::move(finding));
}

void manualClipping(RuleContext& context)
{
    const Value& flag = context.at(field::clipValue);
    const bool active = flag.isBool() ? flag.asBool() : flag.asDouble() > 0.0;
    if (!active || !fits(context) || isAutomatic(context))
        return;
    const std::string code = "In training_step, between manual_backward and step:\n"
                             "    self.clip_gradients(optimizer, gradient_clip_val="
        + flag.text() + ", gradient_clip_algorithm=\"norm\")";
    Finding finding = findingAt(Severity::WontStart, Stage::Setup,
                                {field::clipValue.path, field::automaticOptimization.path});
    finding.message = "gradient_clip_val=" + flag.text() + " is set, and the module optimizes by hand.";
    finding.why = "The flag belongs to the automatic loop; in manual optimization nothing would read it.";
    finding.source = inLightning("src/lightning/pytorch/trainer/configuration_validator.py, "
                                 "__verify_manual_optimization_support");
    finding.engine = "same";
    finding.raises = "MisconfigurationException: Automatic gradient clipping is not supported for manual "
                     "optimization. Remove `Trainer(gradient_clip_val="
        + flag.text() + ")` or switch to automatic optimization.";
    finding.fixes = {
        changingFix("Drop the flag and clip in training_step", {unset(field::clipValue.path)}, code),
    };
    addAutomatic(context, finding);
    context.report(std::move(finding));
}

/// A published error record names bitsandbytes as self-unscaling; the package announces nothing of the kind.
void eightBitUnscales(RuleContext& context)
{
    const PrecisionReading precision = readPrecision(context);
    if (!precision.hasScaler || !takesSteps(context)
        || !context.at(field::optimizerClass).asString().starts_with("bitsandbytes."))
        return;
    const ClipReading clip = readClip(context);
    if (!clip.active)
        return;
    Finding finding = findingAt(Severity::Info, Stage::Unscale, {field::optimizerClass.path, clip.path});
    finding.message = classOf(context.at("optimizer"))
        + " is named in an error record as unscaling by itself; the "
          "package does not announce that, so clipping with "
        + clip.text + " works.";
    finding.why =
        "The record of Lightning's NotImplementedError gives bitsandbytes optimizers as its example. "
        "bitsandbytes/optim/optimizer.py sets no _step_supports_amp_scaling, which is the only thing that "
        "is looked at: the scaler unscales for them as for any other.";
    finding.source = {"bitsandbytes", "0.45",
                      "bitsandbytes/optim/optimizer.py, against error record bf59ff592c0a40b8"};
    finding.engine = "same";
    context.report(std::move(finding));
}

/// Fabric's clip_gradients has error_if_nonfinite=True; under 16-mixed an overflow is a matter of time.
void clipStopsAtOverflow(RuleContext& context)
{
    const PrecisionReading precision = readPrecision(context);
    if (!precision.hasScaler || precision.plugin == "FSDPPrecision")
        return;
    const ClipReading clip = readClip(context);
    if (!clip.active || !clip.byNorm || !context.at(field::fabricErrorIfNonfinite).asBool(true))
        return;
    Finding finding =
        findingAt(Severity::Differs, Stage::Clip, {field::fabricErrorIfNonfinite.path, clip.path});
    finding.message = "Clipping with " + clip.text
        + " stops the program at the first overflow of the loss scale "
          "instead of skipping that step.";
    finding.why =
        "clip_gradients has error_if_nonfinite=True by default. The scaler of 16-mixed looks for the "
        "largest scale by overflowing now and then, which it repairs by skipping; clipping meets the "
        "infinite norm first. FSDP ignores the argument.";
    finding.source = inLightning("src/lightning/fabric/fabric.py, clip_gradients");
    finding.engine = "better: skips the step and halves the scale";
    finding.raises =
        "RuntimeError: The total norm of order 2.0 for gradients from `parameters` is non-finite, ...";
    finding.fixes = {
        safeFix("Let an overflow be skipped", {setTo(field::fabricErrorIfNonfinite.path, false)},
                "fabric.clip_gradients(model, optimizer, max_norm=..., error_if_nonfinite=False)")};
    context.report(std::move(finding));
}

constexpr std::array kRules = {
    Rule{"fsdp-self-unscaling-clip", kOfFabric, {"2.1"}, fsdpSelfUnscaling},
    Rule{"amp-self-unscaling-clip", kOfLightning, {"2.0"}, ampSelfUnscaling},
    Rule{"fsdp-clip-norm", kOfTrainer, {"2.1"}, fsdpClipNorm},
    Rule{"fsdp-clip-scaled", kOfTrainer, {"2.1"}, fsdpClipScaled},
    Rule{"clip-manual", kOfTrainer, {"2.0"}, manualClipping},
    Rule{"clip-stops-at-overflow", kOfFabric, {"2.0"}, clipStopsAtOverflow},
    Rule{"eight-bit-unscaling", kOfLightning, {"2.0"}, eightBitUnscales},
};

} // namespace

std::span<const Rule> clippingRules()
{
    return kRules;
}

} // namespace mantissa
