#pragma once

#include "engine/recipe/class_object.h"
#include "engine/rules/rule_context.h"

#include <string>
#include <string_view>

namespace mantissa {

/// How the target's program reads a set-up: what its settings come to after aliases, defaults and fall-backs.

enum class DeviceKind { Cpu, Cuda, Mps, Tpu, Unknown };
enum class StrategyFamily { Single, Ddp, Fsdp, DeepSpeed, ModelParallel, Other };

struct StrategyReading {
    StrategyFamily family = StrategyFamily::Single;
    std::string name; ///< As written, or the short class name: "fsdp", "FSDPStrategy".
    bool isAlias = true; ///< A registered name, not an object.
};
StrategyReading readStrategy(const RuleContext& context);

/// Where the target runs it. Asks for hardware as an assumption where the target does not name any.
DeviceKind readDevice(RuleContext& context);

struct PrecisionReading {
    std::string asked; ///< What is written, in the long form: "16-mixed".
    std::string effective; ///< What runs: a CPU turns 16-mixed into bf16-mixed.
    std::string plugin; ///< Class that handles it: "MixedPrecision", "FSDPPrecision".
    std::string path; ///< The flag, or the object that decides in its place.
    std::string settingPath; ///< Where another precision would be written.
    std::string scalerPath; ///< A scaler handed to that class; empty: none.
    bool fromPlugin = false; ///< An object decides, not the flag.
    bool hasScaler = false; ///< Gradients are scaled at run time.
    bool isMixed() const { return effective.ends_with("-mixed"); }
};
PrecisionReading readPrecision(RuleContext& context);
/// Aliases in the long form: 16 → "16-mixed", absent → "32-true". Other values as they are.
std::string longPrecision(const Value& value);

struct OptimizerReading {
    std::string name; ///< Short class name; "the optimizer" where the file has none.
    std::string classPath;
    bool fused = false;
    bool selfUnscaling = false; ///< Announces that its step divides by the loss scale itself.
};
/// The fix that lets the Trainer call backward and step; none where the model is one that never does.
void addAutomatic(const RuleContext& context, Finding& finding);

OptimizerReading readOptimizer(RuleContext& context);

struct ClipReading {
    bool active = false;
    bool byNorm = true;
    bool byHand = false; ///< Called in training_step (manual optimization).
    double value = 0.0;
    std::string path; ///< The setting with the threshold.
    std::string algorithmPath; ///< The setting that chose the way; empty: the default.
    std::string text; ///< "gradient_clip_val=1.0"
};
ClipReading readClip(RuleContext& context);

bool isAutomatic(RuleContext& context);
bool overrides(const RuleContext& context, std::string_view hook);
/// The program trains (fit, not validate, test or predict).
bool fits(const RuleContext& context);
/// It fits, and not over nothing: the loop is entered.
bool startsLoop(const RuleContext& context);
/// It gets as far as an optimizer step.
bool takesSteps(const RuleContext& context);

/// The entry of a list of classes whose class is `name`; absent where there is none.
const Value& listEntry(const Value& list, std::string_view name);

} // namespace mantissa
