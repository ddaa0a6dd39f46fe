#pragma once

#include "engine/recipe/run_plan.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace mantissa::ui {

/// What the plots need to know of a set-up to name their lines.
struct RunOutline {
    bool scaled = false; ///< The run has a loss scale.
    std::int64_t growthInterval = 0;
    double growthFactor = 2.0;
    double backoffFactor = 0.5;
    ClipKind clip = ClipKind::None;
    double clipAt = 0.0;
    int ranks = 1;
    PrecisionMode precision = PrecisionMode::Fp32True;
    bool holdOnSkip = false;
    std::vector<OwnOptimizer> turns; ///< Optimizers that the model steps itself.
    bool validated = false; ///< There is a validation loop, so a validation loss and accuracy.
};

RunOutline outlineOf(const RunPlan& plan);

/// Explicit bits of the mantissa of the weights: 23, 10 or 7.
int weightMantissaBits(PrecisionMode precision);

} // namespace mantissa::ui
