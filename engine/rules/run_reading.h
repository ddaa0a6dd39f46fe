#pragma once

#include "engine/rules/reading.h"

#include <cstdint>
#include <optional>
#include <string_view>

namespace mantissa {

/// How far a run gets, with how many processes, and over how much data.

/// A fact that has no setting of its own, by what follows "mantissa.facts.": "data.source".
const Value& factAt(const RuleContext& context, std::string_view name);
/// An argument of the strategy object.
const Value& strategyArgument(const RuleContext& context, std::string_view name);

/// More than the Trainer itself is made: fit, validate, test or predict is called.
bool isCalled(const RuleContext& context);
/// A handful of batches to try the code: it overrides limits, epochs and intervals.
bool isFastDevRun(const RuleContext& context);
bool isOverfitting(const RuleContext& context);
/// The fit loop is entered and has validation in it.
bool validatesInFit(RuleContext& context);

/// The strategy is made for several processes, even where there is only one.
bool isParallel(const RuleContext& context);
/// Processes are started by fork or spawn, as ddp_spawn, ddp_fork and ddp_notebook do.
bool startsByForkOrSpawn(const RuleContext& context);
/// Devices that one machine of the target has; unknown where the target does not say.
std::optional<std::int64_t> visibleGpus(const RuleContext& context);
/// Processes on all machines together; unknown where the devices are.
std::optional<std::int64_t> processCount(RuleContext& context);

/// Whether the target has a Python package. Where it lists none, that counts as assumed.
bool hasPackage(RuleContext& context, std::string_view package);

/// Batches that a loader over the user's data gives to one process; unknown where the set-up does not say.
std::optional<std::int64_t> loaderBatches(RuleContext& context);
/// The data can only be walked through: it has no length.
bool isStream(RuleContext& context);

} // namespace mantissa
