#include "engine/recipe/asked.h"
#include "engine/recipe/fields.h"
#include "engine/rules/making.h"
#include "engine/rules/reading.h"

#include <algorithm>
#include <array>

namespace mantissa {
namespace {

bool isKnown(std::string_view precision)
{
    const auto& known = field::precision.choices;
    return std::find(known.begin(), known.end(), precision) != known.end();
}

void precisionUnknown(RuleContext& context)
{
    const PrecisionReading precision = readPrecision(context);
    if (precision.fromPlugin || isKnown(precision.asked))
        return;
    Finding finding = findingAt(Severity::WontStart, Stage::Configure, {precision.path});
    finding.message = "There is no precision \"" + precision.asked + "\".";
    finding.why =
        "A precision is one of a fixed list of names; anything else is refused before the model is touched.";
    finding.source = inLightning("src/lightning/fabric/connector.py, _convert_precision_to_unified_args");
    finding.engine = "same";
    finding.raises = "ValueError: Precision '" + precision.asked + "' is invalid.";
    finding.fixes = {
        changingFix("Mixed precision in bfloat16", {setTo(precision.path, "bf16-mixed")}),
        changingFix("Mixed precision in float16", {setTo(precision.path, "16-mixed")}),
        changingFix("Full precision", {setTo(precision.path, "32-true")}),
    };
    context.report(std::move(finding));
}

/// A name that only this engine knows.
void ownPrecision(RuleContext& context)
{
    const PrecisionReading precision = readPrecision(context);
    if (precision.fromPlugin || !emulatesFp8(precision.asked))
        return;
    Finding finding = findingAt(Severity::WontStart, Stage::Configure, {precision.path});
    finding.message = "fp8-mixed is a name of this engine: fp8 in linear layers, emulated.";
    finding.why =
        "The target takes a precision from a fixed list of names, and this is none of them. It knows "
        "fp8 as transformer-engine: real fp8 in kernels of a package of its own, on GPUs that have it.";
    finding.source = inLightning("src/lightning/fabric/connector.py, _convert_precision_to_unified_args");
    finding.engine = "better: trains it, emulated: values are rounded to fp8 and multiplied in fp32";
    finding.raises = "ValueError: Precision '" + precision.asked + "' is invalid.";
    finding.fixes = {
        changingFix("Mixed precision in bfloat16", {setTo(precision.path, "bf16-mixed")}),
        changingFix("Train with this engine", {setTo(field::target.path, "mantissa")}),
        changingFix("Fp8 by the transformer_engine package", {setTo(precision.path, "transformer-engine")},
                    "Needs that package and a GPU that computes in fp8; this engine cannot train it.")};
    context.report(std::move(finding));
}

Fix withoutScaler(const PrecisionReading& precision, FixGrade grade)
{
    Fix fix = safeFix("Leave the scaler out", {unset(precision.scalerPath)});
    fix.grade = grade;
    return fix;
}

/// FSDPPrecision compares its class attribute, which is 32-true, before it stores the precision that it was
/// given: so the scaler is refused in every precision, although the documents mean all but 16-mixed.
void fsdpScaler(RuleContext& context)
{
    const PrecisionReading precision = readPrecision(context);
    if (precision.plugin != "FSDPPrecision" || precision.scalerPath.empty())
        return;
    const bool meant = precision.asked != "16-mixed";
    Finding finding =
        findingAt(Severity::WontStart, Stage::Configure, {precision.scalerPath, precision.path});
    finding.message = "FSDPPrecision(\"" + precision.asked + "\") is given a scaler and refuses it.";
    finding.why = meant
        ? "Only float16 gradients need a loss scale; with " + precision.asked
            + " there is nothing to scale, so a scaler is taken for a mistake."
        : "By the documents a scaler is welcome with 16-mixed. The class that was run compares the "
          "scaler with its default precision, 32-true, before it looks at the one it was given, "
          "so it refuses a scaler in every precision.";
    finding.source = inLightning("src/lightning/fabric/plugins/precision/fsdp.py, FSDPPrecision.__init__");
    finding.engine = "better: the scaler is made from trainer.precision; its numbers are settings";
    finding.raises = "ValueError: `precision='" + precision.asked + "'` does not use a scaler, found ...";
    // Where no scaler is used, leaving it out changes nothing; with 16-mixed the built-in one has its own
    // numbers.
    finding.fixes = {withoutScaler(precision, meant ? FixGrade::Safe : FixGrade::Changes)};
    if (!meant)
        finding.fixes.front().text =
            "FSDP's precision then makes a ShardedGradScaler with the default numbers: it "
            "starts at 65536, doubles every 2000 clean steps, halves on an overflow.";
    if (precision.asked == "bf16-mixed")
        finding.fixes.push_back(
            changingFix("Use float16 and the built-in scaler",
                        {unset(precision.scalerPath), setTo(precision.settingPath, "16-mixed")}));
    context.report(std::move(finding));
}

void ampScaler(RuleContext& context)
{
    const PrecisionReading precision = readPrecision(context);
    if (precision.plugin != "MixedPrecision" || precision.scalerPath.empty()
        || precision.asked != "bf16-mixed")
        return;
    Finding finding =
        findingAt(Severity::WontStart, Stage::Configure, {precision.scalerPath, precision.path});
    finding.message = "MixedPrecision(\"bf16-mixed\") is given a scaler and refuses it.";
    finding.why =
        "bfloat16 has the exponents of float32: small gradients do not vanish, so there is no loss scale.";
    finding.source = inLightning("src/lightning/pytorch/plugins/precision/amp.py, MixedPrecision.__init__");
    finding.engine = "better: bf16-mixed never makes a scaler";
    finding.raises = std::string(context.onFabric() ? "ValueError" : "MisconfigurationException")
        + ": `precision='bf16-mixed'` does not use a scaler, found ...";
    finding.fixes = {withoutScaler(precision, FixGrade::Safe),
                     changingFix("Use float16 with this scaler", {setTo(precision.settingPath, "16-mixed")})};
    context.report(std::move(finding));
}

void cpuFloat16(RuleContext& context)
{
    const PrecisionReading precision = readPrecision(context);
    if (precision.asked != "16-mixed" || precision.effective == precision.asked)
        return;
    Finding finding = findingAt(Severity::Differs, Stage::Forward, {precision.path, field::accelerator.path});
    finding.message = "16-mixed is asked for on a CPU; bf16-mixed is what runs, without a loss scale.";
    finding.why =
        "The target does not run float16 autocast on a CPU. It says so in a warning and goes on in bfloat16.";
    finding.source = inLightning("src/lightning/pytorch/trainer/connectors/accelerator_connector.py, "
                                 "_check_and_init_precision");
    finding.engine = "better: float16 and the loss scaler run on the CPU as asked";
    finding.fixes = {changingFix("Say bf16-mixed openly", {setTo(precision.path, "bf16-mixed")},
                                 "What the target runs anyway; this engine then does the same."),
                     changingFix("Ask for a GPU", {setTo(field::accelerator.path, "gpu")})};
    context.report(std::move(finding));
}

/// The scaler takes no closure, and LBFGS needs one.
void lbfgsWithScaler(RuleContext& context)
{
    const PrecisionReading precision = readPrecision(context);
    if (!precision.hasScaler || precision.plugin != "MixedPrecision" || !takesSteps(context)
        || !isAutomatic(context) || classOf(context.at("optimizer")) != "LBFGS")
        return;
    Finding finding =
        findingAt(Severity::Stops, Stage::Optimizer, {field::optimizerClass.path, precision.path});
    finding.message = "LBFGS is to step under 16-mixed, whose loss scaler refuses it.";
    finding.why =
        "LBFGS evaluates loss and gradients several times in a step. The scaler decides once for a step "
        "whether its gradients are finite, and then lets it happen or not.";
    finding.source =
        inLightning("src/lightning/pytorch/plugins/precision/amp.py, MixedPrecision.optimizer_step");
    finding.engine = "same";
    finding.raises = std::string(context.onFabric() ? "TypeError" : "MisconfigurationException")
        + ": AMP and the LBFGS optimizer are not compatible.";
    finding.fixes = {
        changingFix("Mixed precision in bfloat16, which has no scaler",
                    {setTo(precision.settingPath, "bf16-mixed")}),
        changingFix("Take AdamW",
                    {unset("optimizer.init_args"), setTo(field::optimizerClass.path, "torch.optim.AdamW")})};
    context.report(std::move(finding));
}

constexpr std::array kRules = {
    Rule{"precision-unknown", kOfLightning, {"2.0"}, precisionUnknown},
    Rule{"own-precision", kOfLightning, {"2.0"}, ownPrecision},
    Rule{"fsdp-scaler", kOfLightning, {"2.1"}, fsdpScaler},
    Rule{"amp-bf16-scaler", kOfLightning, {"2.0"}, ampScaler},
    Rule{"cpu-float16", kOfLightning, {"2.0"}, cpuFloat16},
    Rule{"lbfgs-with-scaler", kOfLightning, {"2.0"}, lbfgsWithScaler},
};

} // namespace

std::span<const Rule> precisionRules()
{
    return kRules;
}

} // namespace mantissa
