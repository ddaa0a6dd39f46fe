#include "ui/diagram/bus_item.h"

#include "ui/text/convert.h"
#include "ui/theme/fonts.h"
#include "ui/theme/theme.h"

#include <QFontMetricsF>
#include <QPainter>

namespace mantissa::ui {
namespace {

constexpr double kRing = 4;

/// "all-gather fp16"; what travels is named where it is neither units nor gradients.
QString operationText(const PlanComm& comm)
{
    auto text = QString::fromStdString(comm.operation);
    const bool usual = comm.words.empty() || comm.words == "units" || comm.words == "gradients";
    if (!usual)
        text += QLatin1Char(' ') + QString::fromStdString(comm.words);
    return text;
}

QString dtypeText(const PlanComm& comm)
{
    const bool usual = comm.words.empty() || comm.words == "units" || comm.words == "gradients";
    return usual && !comm.dtype.empty() ? QString::fromStdString(comm.dtype) : QString();
}

} // namespace

BusItem::BusItem(PlanComm comm, Place place)
    : m_comm(std::move(comm)), m_painted(m_comm), m_place(std::move(place))
{
    setZValue(3);
    setToolTip(QStringLiteral("%1 %2 %3")
                   .arg(QString::fromStdString(m_comm.operation), QString::fromStdString(m_comm.words),
                        QString::fromStdString(m_comm.dtype))
                   .simplified());
}

double BusItem::labelWidth(const PlanComm& comm)
{
    const auto dtype = dtypeText(comm);
    const double words = QFontMetricsF(uiFont(TextSize::Tiny)).horizontalAdvance(operationText(comm));
    const double mono = QFontMetricsF(monoFont(TextSize::Tiny, QFont::DemiBold)).horizontalAdvance(dtype);
    return words + (dtype.isEmpty() ? 0 : mono + 4) + 2;
}

QRectF BusItem::boundingRect() const
{
    const QRectF line(m_place.x - 10, m_place.rings.front() - 10, 20,
                      m_place.rings.back() - m_place.rings.front() + 20);
    const QRectF ticks(std::min(m_place.x, m_place.stageEdge), line.top(),
                       std::abs(m_place.x - m_place.stageEdge), line.height());
    return line.united(ticks).united(QRectF(m_place.labelLeft, m_place.labelTop, labelWidth(m_comm), 15));
}

void BusItem::setAfter(const PlanComm* after)
{
    m_gone = !after;
    if (after)
        m_painted = *after;
}

void BusItem::paint(QPainter* painter, const QStyleOptionGraphicsItem*, QWidget*)
{
    const auto& colours = theme();
    const auto ink = m_gone ? colours.borderStrong : dtypeColour(colours, toQt(m_painted.dtype));
    painter->setRenderHint(QPainter::Antialiasing);
    painter->setPen(QPen(ink, 3, Qt::SolidLine, Qt::FlatCap));
    painter->drawLine(QPointF(m_place.x, m_place.rings.front()), QPointF(m_place.x, m_place.rings.back()));
    for (const double y : m_place.rings) {
        painter->setPen(QPen(ink, 1.5));
        const double from = m_place.x + (m_place.stageEdge > m_place.x ? kRing : -kRing);
        painter->drawLine(QPointF(from, y), QPointF(m_place.stageEdge, y));
        painter->setPen(QPen(ink, 2));
        painter->setBrush(colours.canvas);
        painter->drawEllipse(QPointF(m_place.x, y), kRing, kRing);
    }
    const auto words = operationText(m_painted);
    auto font = uiFont(TextSize::Tiny);
    font.setStrikeOut(m_gone);
    const double width = QFontMetricsF(font).horizontalAdvance(words);
    painter->setFont(font);
    painter->setPen(m_gone ? colours.text3 : colours.text2);
    painter->drawText(QPointF(m_place.labelLeft, m_place.labelTop + 11), words);
    painter->setFont(monoFont(TextSize::Tiny, QFont::DemiBold));
    painter->setPen(ink);
    painter->drawText(QPointF(m_place.labelLeft + width + 4, m_place.labelTop + 11), dtypeText(m_painted));
}

} // namespace mantissa::ui
