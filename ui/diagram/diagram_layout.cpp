#include "ui/diagram/diagram_layout.h"

#include <algorithm>

namespace mantissa::ui {
namespace {

constexpr int kColumns = 6;
constexpr double kLeft = 42;
constexpr double kRight = 18;
constexpr double kLeastCard = 108;
constexpr double kMostCard = 160;
constexpr double kLeastGap = 34;
constexpr double kMostGap = 64;
constexpr double kLeastHeight = 113;
constexpr double kTop = 14;
constexpr double kBetween = 62; // Names of communications, preview strip, badges of the lower row.
constexpr double kBottom = 21;
constexpr double kLaneGap = 4;

/// First column of a card; Forward takes two.
int columnOf(Stage stage)
{
    switch (stage) {
    case Stage::Data:
        return 0;
    case Stage::ConvertInput:
        return 1;
    case Stage::Forward:
        return 2;
    case Stage::Loss:
        return 4;
    case Stage::Scale:
        return 5;
    default:
        return 5 - (static_cast<int>(stage) - static_cast<int>(Stage::Backward));
    }
}

} // namespace

DiagramLayout::DiagramLayout(QSizeF view, double wanted, int lanes, bool unfolded)
    : m_laneHeight(unfolded ? 13 : 16), m_lanes(lanes)
{
    double spare = view.width() - kLeft - kRight - kColumns * kLeastCard - (kColumns - 1) * kLeastGap;
    const double forGaps = std::clamp(spare, 0.0, (kColumns - 1) * (kMostGap - kLeastGap));
    m_gap = kLeastGap + forGaps / (kColumns - 1);
    spare -= forGaps;
    const double forCards = std::clamp(spare, 0.0, kColumns * (kMostCard - kLeastCard));
    m_cardWidth = kLeastCard + forCards / kColumns;
    spare -= forCards;
    m_left = kLeft + std::max(0.0, spare) / 2.0;

    const double fixed = kTop + kBetween + kBottom + 2 * (6 + laneBlock());
    const double room = (view.height() - fixed) / 2.0;
    m_cardHeight = std::max(kLeastHeight, std::min(room, std::max(wanted, kLeastHeight)));
    const double rest = std::max(0.0, view.height() - fixed - 2 * m_cardHeight);
    m_upper = kTop + rest / 3.0;
    m_lower = m_upper + m_cardHeight + 6 + laneBlock() + kBetween + std::min(rest / 3.0, 40.0);
    m_size = QSizeF(std::max(view.width(), kLeft + kRight + kColumns * m_cardWidth + (kColumns - 1) * m_gap),
                    std::max(view.height(), m_lower + m_cardHeight + 6 + laneBlock() + kBottom));
}

double DiagramLayout::laneBlock() const
{
    return m_lanes > 0 ? m_lanes * m_laneHeight + (m_lanes - 1) * kLaneGap : 0.0;
}

QRectF DiagramLayout::card(Stage stage) const
{
    const double pitch = m_cardWidth + m_gap;
    const double width = stage == Stage::Forward ? m_cardWidth + pitch : m_cardWidth;
    return {m_left + columnOf(stage) * pitch, rowTop(isUpper(stage)), width, m_cardHeight};
}

QRectF DiagramLayout::lane(Stage stage, int index) const
{
    const auto box = card(stage);
    return {box.left(), laneTop(isUpper(stage)) + index * (m_laneHeight + kLaneGap), box.width(),
            m_laneHeight};
}

double DiagramLayout::busX(Stage stage, CommWhen when) const
{
    const auto box = card(stage);
    const bool leftSide = isUpper(stage) == (when == CommWhen::Before);
    const double half = std::min(m_gap / 2.0, 18.0);
    if (leftSide)
        return box.left() - half;
    return columnOf(stage) == kColumns - 1 ? box.right() + 12 : box.right() + half;
}

QRectF DiagramLayout::stripRoom() const
{
    const double top = labelTop(true) + 16;
    const double left = m_left + m_cardWidth + 24; // Clear of "next step" and of the arrow down.
    return {left, top, card(Stage::Scale).center().x() - 14 - left, m_lower - 12 - top};
}

} // namespace mantissa::ui
