#include "ui/diagram/arrow_route.h"

namespace mantissa::ui {
namespace {

constexpr double kClear = 2;

Stage next(Stage stage)
{
    return static_cast<Stage>(static_cast<int>(stage) + 1);
}

bool onTheWay(const StepPlan& plan, Stage stage)
{
    for (const auto& entry : plan.stages)
        if (entry.stage == stage)
            return entry.present;
    return false;
}

/// Past stages that take part: a line over the cards of the lower row.
std::vector<ArrowItem::Piece> routeOver(const DiagramLayout& layout, const PlanArrow& arrow)
{
    const auto from = layout.card(arrow.from);
    const auto to = layout.card(arrow.to);
    const double y = from.bottom() - 8;
    const bool right = to.left() > from.right();
    return {{QLineF(right ? from.right() + kClear : from.left() - kClear, y,
                    right ? to.left() - kClear : to.right() + kClear, y),
             true}};
}

} // namespace

std::vector<ArrowItem::Piece> routeArrow(const DiagramLayout& layout, const StepPlan& plan,
                                         const PlanArrow& arrow)
{
    if (!isCard(arrow.from) || !isCard(arrow.to))
        return {};
    if (arrow.to < arrow.from) { // To the next step: up in the first column.
        const auto to = layout.card(Stage::Data);
        const auto from = layout.card(Stage::UpdateScale);
        const double end =
            layout.lanes() > 0 ? layout.lane(Stage::Data, layout.lanes() - 1).bottom() : to.bottom();
        std::vector<ArrowItem::Piece> pieces;
        if (arrow.from == Stage::Optimizer) {
            const auto here = layout.card(arrow.from);
            const double y = here.top() + here.height() * 0.54;
            pieces.push_back({QLineF(here.left() - kClear, y, from.right() + kClear, y), false});
        }
        pieces.push_back({QLineF(to.center().x(), from.top() - kClear, to.center().x(), end + 5), true});
        return pieces;
    }
    for (auto between = next(arrow.from); between < arrow.to; between = next(between))
        if (onTheWay(plan, between))
            return routeOver(layout, arrow);

    std::vector<ArrowItem::Piece> pieces;
    for (auto stage = arrow.from; stage < arrow.to; stage = next(stage)) {
        const auto here = layout.card(stage);
        const auto there = layout.card(next(stage));
        if (isUpper(stage) != isUpper(next(stage))) {
            const double top =
                layout.lanes() > 0 ? layout.lane(stage, layout.lanes() - 1).bottom() : here.bottom();
            pieces.push_back(
                {QLineF(here.center().x(), top + 4, here.center().x(), there.top() - kClear), true});
        } else {
            const double y = here.top() + here.height() * 0.54;
            const bool right = isUpper(stage);
            pieces.push_back({QLineF(right ? here.right() + kClear : here.left() - kClear, y,
                                     right ? there.left() - kClear : there.right() + kClear, y),
                              true});
        }
    }
    return pieces;
}

} // namespace mantissa::ui
