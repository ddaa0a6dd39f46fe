#include "ui/diagram/lane_item.h"

#include "ui/theme/fonts.h"
#include "ui/theme/style.h"

#include <QFontMetricsF>
#include <QPainter>

namespace mantissa::ui {

LaneItem::LaneItem(const PlanStage& stage, const QRectF& rect, bool withWords)
    : m_stage(stage.stage),
      m_present(stage.present),
      m_dtype(QString::fromStdString(stage.dtype)),
      m_words(stage.lane),
      m_rect(rect),
      m_withWords(withWords)
{
    setZValue(2);
    if (m_present)
        setToolTip(QString::fromStdString(m_words));
}

void LaneItem::paint(QPainter* painter, const QStyleOptionGraphicsItem*, QWidget*)
{
    const auto& colours = theme();
    if (!m_present) {
        paintBox(*painter, m_rect, colours.canvas, QPen(colours.borderStrong, 1, Qt::DashLine), 3);
        return;
    }
    const auto line = mixed(dtypeColour(colours, m_dtype), colours.canvas, 0.5);
    paintBox(*painter, m_rect, dtypeWeakColour(colours, m_dtype), line, 3);
    if (!m_withWords)
        return;
    const auto font = uiFont(TextSize::Tiny);
    painter->setFont(font);
    painter->setPen(colours.text2);
    painter->drawText(
        m_rect, Qt::AlignCenter,
        QFontMetricsF(font).elidedText(QString::fromStdString(m_words), Qt::ElideRight, m_rect.width() - 4));
}

} // namespace mantissa::ui
