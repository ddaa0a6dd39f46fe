#pragma once

#include "ui/diagram/arrow_item.h"
#include "ui/diagram/diagram_layout.h"

#include <vector>

namespace mantissa::ui {

/// The pieces of an arrow: one in each free gap on its way, and the upright one between the rows.
std::vector<ArrowItem::Piece> routeArrow(const DiagramLayout& layout, const StepPlan& plan,
                                         const PlanArrow& arrow);

} // namespace mantissa::ui
