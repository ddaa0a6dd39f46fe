#pragma once

#include "engine/recipe/run_plan.h"
#include "engine/recipe/setup.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

// What a set-up asks for where several settings say it together. Lenient: nonsense reads as nothing asked,
// since rules and planRun are there to complain.
namespace mantissa {

/// "16-mixed": from a precision plugin, else from the flag, with the short forms 16, bf16, 32 and 64 written
/// out.
std::string precisionName(const Setup& setup);
/// "16-mixed" of "16"; anything else as it is.
std::string longPrecisionName(const std::string& written);
bool emulatesFp8(std::string_view precision); ///< Its linear layers round to fp8.
/// The precision object among the plugins, or absent.
Value precisionPlugin(const Setup& setup);

/// "auto", "single_device", "ddp", "fsdp", …: strategyKind, with auto resolved by the number of ranks.
std::string strategyAsked(const Setup& setup);
bool shardsWeights(const Setup& setup);
/// How FSDP splits the weights, from the arguments of its two forms.
ShardPlan shardsAsked(const Setup& setup);
/// Ranks over which a tensor that the optimizer works on is split: 1 where each rank has the whole.
int partsAsked(const Setup& setup);
/// Weights are not trained where their names begin with one of these.
std::vector<std::string> frozenAsked(const Setup& setup);
bool recomputes(const Setup& setup); ///< Activation checkpointing.

/// The model brings optimizers of its own and steps them itself.
bool bringsOptimizers(const Setup& setup);

/// A fact about the module that follows from a model of this engine.
struct ImpliedFact {
    std::string path; ///< "mantissa.facts.automatic_optimization"
    std::string value; ///< "false"
    std::string why;
};
std::vector<ImpliedFact> impliedFacts(const Setup& setup);

/// `mantissa.ranks`, else `trainer.devices` where that is a number, else 1; as it is written.
std::int64_t ranksAsked(const Setup& setup);
/// The same, kept to what can be drawn.
int ranksHere(const Setup& setup);

/// "trainer", "fabric" or "mantissa", by the name of the target.
std::string frameworkOf(const Setup& setup);

struct ClipAsked {
    ClipKind kind = ClipKind::None;
    double value = 0.0;
    double normType = 2.0;
    std::string path; ///< The setting that asks for it.
};
ClipAsked clipAsked(const Setup& setup);

/// From which epoch on how many micro batches make a step.
std::map<std::int64_t, std::int64_t> accumulationAsked(const Setup& setup);

/// The optimizer divides by the loss scale itself.
bool unscalesItself(const Setup& setup);
/// Gradients are divided by the loss scale in a step of their own.
bool unscalesExplicitly(const Setup& setup);

/// 16-mixed with a loss scaler that is not switched off.
bool usesScaler(const Setup& setup);
/// A setting of the loss scaler: `mantissa.scaler`, else the scaler object given to the precision, else the
/// default.
double scalerSetting(const Setup& setup, std::string_view name);

/// "fp16" of "torch.float16", "float16", "half" or "fp16"; empty for anything else.
std::string dtypeName(std::string_view written);

} // namespace mantissa
