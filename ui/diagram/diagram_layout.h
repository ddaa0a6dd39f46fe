#pragma once

#include "engine/recipe/step_plan.h"

#include <QRectF>
#include <QSizeF>

#include <array>

namespace mantissa::ui {

/// The eleven cards in the order of the step.
inline constexpr std::array kCardStages = {
    Stage::Data,   Stage::ConvertInput, Stage::Forward, Stage::Loss,      Stage::Scale,      Stage::Backward,
    Stage::Reduce, Stage::Unscale,      Stage::Clip,    Stage::Optimizer, Stage::UpdateScale};

constexpr bool isCard(Stage stage)
{
    return stage >= Stage::Data && stage <= Stage::UpdateScale;
}
constexpr bool isUpper(Stage stage)
{
    return stage <= Stage::Scale;
}

/// Where everything in the step diagram stands: six columns, upper row from left to right, lower row back.
/// Wider views widen the gaps, then the cards; then the diagram is centred.
class DiagramLayout {
public:
    DiagramLayout() = default;
    /// `wanted` is the height that the fullest card would like; `lanes` the number of rank lanes under a row.
    DiagramLayout(QSizeF view, double wanted, int lanes, bool unfolded);

    QSizeF size() const { return m_size; }
    QRectF card(Stage stage) const;
    QRectF lane(Stage stage, int index) const;
    int lanes() const { return m_lanes; }
    double gap() const { return m_gap; }
    /// The left edge of the rank labels.
    double labelLeft() const { return m_left - 40; }
    double labelTop(bool upper) const { return laneTop(upper) + laneBlock() + 4; }
    /// The middle of the free gap before or after a stage, in the direction of the step.
    double busX(Stage stage, CommWhen when) const;
    QRectF stripRoom() const; ///< Between the rows, where the preview strip stands.

private:
    double rowTop(bool upper) const { return upper ? m_upper : m_lower; }
    double laneTop(bool upper) const { return rowTop(upper) + m_cardHeight + 6; }
    double laneBlock() const;

    QSizeF m_size;
    double m_left = 42;
    double m_gap = 36;
    double m_cardWidth = 108;
    double m_cardHeight = 118;
    double m_upper = 16;
    double m_lower = 222;
    double m_laneHeight = 16;
    int m_lanes = 1;
};

} // namespace mantissa::ui
