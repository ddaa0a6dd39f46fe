#pragma once

#include "engine/rules/rule_context.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mantissa {

/// When the fit loop validates.
enum class Validates { Never, EachEpoch, SomeEpochs, Unclear };
Validates whenValidates(RuleContext& context);

/// Who looks for a metric: at the end of every epoch of training, or after each validation.
enum class LooksFor { EachEpoch, EachValidation };

/// Why a callback that looks for a metric will not find it, as the end of a sentence; empty where it will, or
/// where nobody told what the module logs.
std::string whyMissing(RuleContext& context, const std::string& metric, LooksFor when);

/// Settings that give a callback a metric that is there: where the set-up says what is logged.
std::vector<std::string> metricsAtHand(RuleContext& context, const std::string& metric);

/// The number of epochs, where it is limited.
std::optional<std::int64_t> lastEpoch(const RuleContext& context);

} // namespace mantissa
