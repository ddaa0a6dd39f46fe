#include "ui/diagram/stage_item.h"
#include "ui/theme/fonts.h"
#include "ui/theme/icons.h"
#include "ui/theme/style.h"
#include "ui/widgets/severity.h"

#include <QPainter>
#include <QWidget>

namespace mantissa::ui {
namespace {
constexpr double kBadgeHeight = 20;
} // namespace

void StageItem::paint(QPainter* painter, const QStyleOptionGraphicsItem*, QWidget* widget)
{
    const auto& colours = theme();
    const QRectF box(QPointF(), m_size);
    const bool absent = dropsOut() || (!m_stage.present && !comesIn());
    const bool error = m_badge && m_badge->tone == Tone::Stop && !m_badge->fixed;
    if (absent)
        paintBox(*painter, box, Qt::transparent, QPen(colours.borderStrong, 1, Qt::DashLine));
    else if (error)
        paintBox(*painter, box, m_hovered ? colours.hover : colours.panel, QPen(colours.stop, 2));
    else
        paintBox(*painter, box, m_hovered ? colours.hover : colours.panel,
                 comesIn() ? QPen(colours.accent, 1) : QPen(colours.borderStrong, 1));
    if (hasFocus() && widget && widget->window()->testAttribute(Qt::WA_KeyboardFocusChange))
        paintFocusRing(*painter, box, kRadius, 2);
    paintTitle(*painter);
    paintCells(*painter);
    paintBadge(*painter);
}

void StageItem::paintTitle(QPainter& painter) const
{
    const auto& colours = theme();
    const bool absent = dropsOut() || (!m_stage.present && !comesIn());
    const QRectF line(7, 6, m_size.width() - 14, 18);
    painter.setFont(uiFont(TextSize::Base, QFont::DemiBold));
    painter.setPen(absent ? colours.text3 : colours.text);
    painter.drawText(line, Qt::AlignLeft | Qt::AlignVCenter, stageTitleText(m_stage.stage));

    const auto now = QString::fromStdString(m_stage.dtype);
    const auto next = m_after ? QString::fromStdString(m_after->dtype) : now;
    if (absent || next.isEmpty())
        return;
    auto font = monoFont(TextSize::Tiny, QFont::DemiBold);
    const QFontMetricsF metrics(font);
    const auto title = QFontMetricsF(uiFont(TextSize::Base, QFont::DemiBold))
                           .horizontalAdvance(stageTitleText(m_stage.stage));
    if (title + 2 + metrics.horizontalAdvance(next) > line.width())
        return; // The arrows name it too.
    painter.setFont(font);
    painter.setPen(dtypeColour(colours, next));
    painter.drawText(line, Qt::AlignRight | Qt::AlignVCenter, next);
    const double width = metrics.horizontalAdvance(next);
    if (next != now && !now.isEmpty() && m_size.width() > 200) {
        font.setStrikeOut(true);
        painter.setFont(font);
        painter.setPen(colours.text3);
        painter.drawText(line.adjusted(0, 0, -width - 6, 0), Qt::AlignRight | Qt::AlignVCenter, now);
    } else if (m_size.width() > 200) {
        paintBox(painter, QRectF(line.right() - width - 12, line.center().y() - 4, 8, 8),
                 dtypeColour(colours, next), Qt::NoPen, 2);
    }
}

void StageItem::paintCell(QPainter& painter, const Cell& cell, const QColor& ink) const
{
    const auto labelFont = uiFont(TextSize::Tiny);
    painter.setFont(labelFont);
    painter.setPen(ink);
    painter.drawText(cell.label, Qt::AlignLeft | Qt::AlignVCenter,
                     QFontMetricsF(labelFont).elidedText(QString::fromStdString(cell.chip.label),
                                                         Qt::ElideRight, cell.label.width() + 1));
    double x = cell.box.left();
    double y = cell.box.top();
    const bool twoLines = cell.box.height() > kChipHeight + 1;
    for (const auto& [value, look] : cell.pieces) {
        const double width = std::min(chipWidth(value), m_size.width() - 7 - cell.box.left());
        paintChip(painter, QRectF(x, y, width, kChipHeight), value, look);
        if (twoLines)
            y += kChipHeight + 3;
        else
            x += width + 4;
    }
}

void StageItem::paintCells(QPainter& painter) const
{
    const auto& colours = theme();
    const bool gone = dropsOut();
    const bool absent = gone || (!m_stage.present && !comesIn());
    double bottom = 30;
    for (const auto& cell : m_cells) {
        if (!cell.visible)
            continue;
        paintCell(painter, cell, absent ? colours.text3 : colours.text2);
        bottom = std::max(bottom, cell.box.bottom() + 8);
    }
    painter.setFont(uiFont(TextSize::Tiny));
    if (gone && bottom + 14 <= m_size.height()) {
        painter.setPen(colours.accent);
        painter.drawText(QRectF(7, bottom, m_size.width() - 14, 14), Qt::AlignLeft | Qt::AlignVCenter,
                         tr("drops out"));
    } else if (absent && m_cells.empty()) {
        painter.setPen(colours.text3);
        painter.drawText(QRectF(7, 28, m_size.width() - 14, 28), Qt::AlignLeft | Qt::TextWordWrap,
                         tr("not in this step"));
    }
    paintHidden(painter);
}

/// On the lower edge, clear of the chips.
void StageItem::paintHidden(QPainter& painter) const
{
    if (m_hidden == 0)
        return;
    const auto& colours = theme();
    const auto words = tr("+ %1 more").arg(m_hidden);
    const double width = QFontMetricsF(uiFont(TextSize::Tiny)).horizontalAdvance(words) + 12;
    const QRectF box(m_size.width() - width - 6, m_size.height() - 8, width, 15);
    paintBox(painter, box, colours.panel, colours.borderStrong, 7.5);
    painter.setPen(colours.text2);
    painter.drawText(box, Qt::AlignCenter, words);
}

QRectF StageItem::badgeRect() const
{
    if (!m_badge)
        return {};
    const QFontMetricsF metrics(uiFont(TextSize::Tiny, QFont::DemiBold));
    const auto words = m_badge->fixed ? tr("fixed here")
        : m_badge->words.isEmpty()    ? QString::number(m_badge->count)
                                      : m_badge->words;
    const double width = metrics.horizontalAdvance(words) + 5 + 12 + 4 + 8;
    const bool wide = m_badge->fixed || !m_badge->words.isEmpty();
    const double left = wide ? std::max(4.0, m_size.width() - width - 4) : m_size.width() - width + 8;
    const double top = wide ? -kBadgeHeight + 5 : -kBadgeHeight / 2 - 1; // Clear of the dtype under it.
    return {left, top, width, kBadgeHeight};
}

void StageItem::paintBadge(QPainter& painter) const
{
    if (!m_badge)
        return;
    const auto& colours = theme();
    const auto tone = toneColours(colours, m_badge->tone);
    const auto ink = m_badge->fixed ? colours.accent : tone.ink;
    const auto rect = badgeRect();
    const auto fill = m_badge->fixed  ? colours.canvas
        : m_badge->tone == Tone::Stop ? colours.stopWeak
                                      : colours.panel;
    paintBox(painter, rect, fill, QPen(ink, 1, m_badge->fixed ? Qt::DashLine : Qt::SolidLine),
             kBadgeHeight / 2);
    const auto shape = m_badge->fixed ? QStringLiteral("check") : toneIcon(m_badge->tone);
    paintIcon(painter, QRectF(rect.left() + 5, rect.center().y() - 6, 12, 12), shape, ink, fill);
    painter.setFont(uiFont(TextSize::Tiny, QFont::DemiBold));
    painter.setPen(ink);
    const auto words = m_badge->fixed ? tr("fixed here")
        : m_badge->words.isEmpty()    ? QString::number(m_badge->count)
                                      : m_badge->words;
    painter.drawText(rect.adjusted(21, 0, 0, 0), Qt::AlignLeft | Qt::AlignVCenter, words);
}

} // namespace mantissa::ui
