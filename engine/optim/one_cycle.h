#pragma once

#include "engine/recipe/optimizer_plan.h"

#include <cstdint>

namespace mantissa {

// The one-cycle policy (arXiv 1708.07120) in closed form, as PyTorch's OneCycleLR computes it.

double cycledRate(const OneCyclePlan& plan, std::int64_t advances);
double cycledMomentum(const OneCyclePlan& plan, std::int64_t advances);

} // namespace mantissa
