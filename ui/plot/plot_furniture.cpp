#include "ui/plot/plot_furniture.h"

#include "ui/theme/fonts.h"

#include <algorithm>

namespace mantissa::ui {
namespace {

constexpr int kTitleHeight = 22;
constexpr int kLegendWidth = 124;
constexpr int kLegendRow = 17;

} // namespace

PanelTitle::PanelTitle(QCustomPlot* plot, QString title, QString subtitle)
    : QCPLayoutElement(plot), m_title(std::move(title)), m_subtitle(std::move(subtitle))
{
    setMinimumSize(10, kTitleHeight);
    setMaximumSize(QWIDGETSIZE_MAX, kTitleHeight);
}

void PanelTitle::draw(QCPPainter* painter)
{
    const QRect place = rect().adjusted(m_left, 0, 0, 0);
    painter->setFont(uiFont(TextSize::Small, QFont::DemiBold));
    painter->setPen(theme().text);
    painter->drawText(place, Qt::AlignLeft | Qt::AlignVCenter, m_title);
    const int width = painter->fontMetrics().horizontalAdvance(m_title) + 6;
    painter->setFont(uiFont(TextSize::Small));
    painter->setPen(theme().text2);
    const QRect rest = place.adjusted(width, 0, 0, 0);
    painter->drawText(rest, Qt::AlignLeft | Qt::AlignVCenter,
                      painter->fontMetrics().elidedText(m_subtitle, Qt::ElideRight, rest.width()));
}

void drawSwatch(QPainter& painter, Swatch swatch, const QColor& colour, const QRectF& place)
{
    const auto centre = place.center();
    painter.setBrush(Qt::NoBrush);
    switch (swatch) {
    case Swatch::None:
        return;
    case Swatch::Line:
    case Swatch::Dashed: {
        QPen pen(colour, 1.5);
        if (swatch == Swatch::Dashed)
            pen.setDashPattern({4, 2});
        painter.setPen(pen);
        painter.drawLine(QPointF(place.left(), centre.y()), QPointF(place.right(), centre.y()));
        return;
    }
    case Swatch::Band:
        painter.fillRect(place.adjusted(0, 1, 0, -1), colour);
        return;
    case Swatch::TriangleUp:
    case Swatch::TriangleDown: {
        const double up = swatch == Swatch::TriangleUp ? 1.0 : -1.0;
        painter.setPen(Qt::NoPen);
        painter.setBrush(colour);
        painter.drawPolygon(QPolygonF(
            {centre + QPointF(-4, 3 * up), centre + QPointF(4, 3 * up), centre + QPointF(0, -4 * up)}));
        return;
    }
    case Swatch::Cross:
        painter.setPen(QPen(colour, 2.0));
        painter.drawLine(centre + QPointF(-3.5, -3.5), centre + QPointF(3.5, 3.5));
        painter.drawLine(centre + QPointF(-3.5, 3.5), centre + QPointF(3.5, -3.5));
        return;
    }
}

PanelLegend::PanelLegend(QCustomPlot* plot) : QCPLayoutElement(plot)
{
    setMinimumSize(kLegendWidth, 10);
    setMaximumSize(kLegendWidth, QWIDGETSIZE_MAX);
}

void PanelLegend::draw(QCPPainter* painter)
{
    painter->setAntialiasing(true);
    QRect place(rect().left() + 12, rect().top(), rect().width() - 14, kLegendRow);
    for (const auto& row : m_rows) {
        if (place.bottom() > rect().bottom() + 4)
            return; // A low panel keeps the rows that matter: they come first.
        drawRow(*painter, row, place);
        place.translate(0, kLegendRow);
    }
}

void PanelLegend::drawRow(QCPPainter& painter, const LegendRow& row, const QRect& place) const
{
    if (row.share >= 0.0) {
        const QRectF bar(place.left(), place.center().y() - 2.5, place.width() - 12, 5);
        painter.setPen(QPen(theme().border, 1));
        painter.setBrush(theme().sunken);
        painter.drawRoundedRect(bar, 2.5, 2.5);
        painter.setPen(Qt::NoPen);
        painter.setBrush(row.colour);
        painter.drawRoundedRect(
            QRectF(bar.left(), bar.top(), std::max(3.0, bar.width() * std::min(1.0, row.share)), 5), 2, 2);
        return;
    }
    QRect text = place;
    if (row.swatch != Swatch::None) {
        drawSwatch(painter, row.swatch, row.colour,
                   QRectF(place.left(), place.top() + 3, 14, kLegendRow - 6));
        text.setLeft(place.left() + 20);
    }
    painter.setFont(row.strong ? monoFont(TextSize::Small, QFont::DemiBold) : uiFont(TextSize::Tiny));
    painter.setPen(row.strong ? theme().text : theme().text2);
    painter.drawText(text, Qt::AlignLeft | Qt::AlignVCenter,
                     painter.fontMetrics().elidedText(row.text, Qt::ElideRight, text.width()));
}

PlotCursor::PlotCursor(QCustomPlot* plot) : QCPLayerable(plot, QStringLiteral("overlay")) {}

void PlotCursor::show(double x, const QString& stepText, std::vector<CursorStop> stops)
{
    m_x = x;
    m_stepText = stepText;
    m_stops = std::move(stops);
}

void PlotCursor::setNow(double x, const QRect& panels)
{
    m_now = x;
    m_panels = panels;
}

void PlotCursor::applyDefaultAntialiasingHint(QCPPainter* painter) const
{
    painter->setAntialiasing(true);
}

void PlotCursor::draw(QCPPainter* painter)
{
    if (m_now >= m_panels.left() && m_now <= m_panels.right()) {
        painter->setPen(QPen(theme().borderStrong, 1));
        painter->drawLine(QPointF(m_now, m_panels.top()), QPointF(m_now, m_panels.bottom()));
    }
    if (m_stops.empty())
        return;
    painter->setPen(QPen(theme().accent, 1));
    painter->drawLine(QPointF(m_x, m_stops.front().panel.top()), QPointF(m_x, m_stops.back().panel.bottom()));
    for (const auto& stop : m_stops)
        drawPlate(*painter, stop);

    painter->setFont(monoFont(TextSize::Tiny, QFont::Medium));
    const int width = painter->fontMetrics().horizontalAdvance(m_stepText) + 12;
    const auto& last = m_stops.back().panel;
    const double left = std::clamp(m_x - width / 2.0, double(last.left()),
                                   double(std::max(last.left(), last.right() - width)));
    const QRectF plate(left, last.bottom() + 3, width, 18);
    painter->setPen(Qt::NoPen);
    painter->setBrush(theme().accent);
    painter->drawRoundedRect(plate, 3, 3);
    painter->setPen(theme().onAccent);
    painter->drawText(plate, Qt::AlignCenter, m_stepText);
}

void PlotCursor::drawPlate(QCPPainter& painter, const CursorStop& stop) const
{
    if (stop.ring) {
        painter.setPen(QPen(theme().accent, 1.5));
        painter.setBrush(theme().panel);
        painter.drawEllipse(*stop.ring, 3.5, 3.5);
    }
    if (stop.plate.isEmpty())
        return;
    painter.setFont(monoFont(TextSize::Tiny, QFont::Medium));
    const int width = painter.fontMetrics().horizontalAdvance(stop.plate) + 14;
    const bool leftOfCursor = m_x - width - 8 > stop.panel.left();
    // Away from the curve: below a ring in the upper half, above one in the lower.
    const bool low = !stop.ring || stop.ring->y() < stop.panel.center().y();
    const double top = low
        ? std::min(double(stop.panel.bottom() - 24), stop.ring ? stop.ring->y() + 14 : stop.panel.top() + 8.0)
        : std::max(double(stop.panel.top() + 4), stop.ring->y() - 34);
    const QRectF plate(leftOfCursor ? m_x - width - 8 : m_x + 8, top, width, 20);
    painter.setPen(QPen(theme().borderStrong, 1));
    painter.setBrush(theme().raised);
    painter.drawRoundedRect(plate, 4, 4);
    painter.setPen(theme().text);
    painter.drawText(plate, Qt::AlignCenter, stop.plate);
}

} // namespace mantissa::ui
