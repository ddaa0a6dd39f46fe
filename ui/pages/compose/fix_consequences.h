#pragma once

#include "engine/rules/check.h"
#include "ui/diagram/step_scene.h"

#include <optional>

namespace mantissa::ui {

/// A fix worked out before it is applied: the set-up it would make, and what the diagram says about it.
struct PreviewedFix {
    Setup after;
    FixPreview picture;
};

/// Nothing where the fix has no edits, or they do not fit.
std::optional<PreviewedFix> previewFix(const Setup& setup, const StepPlan& plan, const CheckReport& report,
                                       const Finding& finding, const Fix& fix);

} // namespace mantissa::ui
