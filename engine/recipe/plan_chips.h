#pragma once

#include "engine/recipe/step_plan.h"

#include <vector>

namespace mantissa {

/// The settings that a card shows, most important first.
std::vector<PlanChip> stageChips(const Setup& setup, Stage stage);

} // namespace mantissa
