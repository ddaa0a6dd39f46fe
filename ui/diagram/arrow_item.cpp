#include "ui/diagram/arrow_item.h"

#include "ui/theme/fonts.h"
#include "ui/theme/theme.h"

#include <QFontMetricsF>
#include <QPainter>

#include <algorithm>
#include <cmath>

namespace mantissa::ui {
namespace {

constexpr double kHead = 6;

} // namespace

QPen dtypePen(const QString& dtype, double width)
{
    QPen pen(dtypeColour(theme(), dtype), width);
    pen.setCapStyle(Qt::FlatCap);
    // Lengths are in pen widths: half the pixels of a 2 px line.
    if (dtype.startsWith(QStringLiteral("bf16")))
        pen.setDashPattern({4, 1.5});
    else if (dtype.startsWith(QStringLiteral("fp16")))
        pen.setDashPattern({2, 1.5});
    else if (dtype.startsWith(QStringLiteral("fp8")))
        pen.setDashPattern({0.5, 1});
    else if (!dtype.startsWith(QStringLiteral("fp32")) && !dtype.startsWith(QStringLiteral("tf32")))
        pen.setDashPattern({1, 1.5});
    return pen;
}

ArrowItem::ArrowItem(PlanArrow arrow, std::vector<Piece> pieces)
    : m_arrow(std::move(arrow)), m_pieces(std::move(pieces))
{
    setZValue(1);
}

QRectF ArrowItem::boundingRect() const
{
    QRectF bounds;
    for (const auto& piece : m_pieces)
        bounds =
            bounds.united(QRectF(piece.line.p1(), piece.line.p2()).normalized().adjusted(-34, -34, 48, 8));
    return bounds;
}

void ArrowItem::paint(QPainter* painter, const QStyleOptionGraphicsItem*, QWidget*)
{
    painter->setRenderHint(QPainter::Antialiasing);
    const auto dtype = m_newDtype.isEmpty() ? now() : m_newDtype;
    for (const auto& piece : m_pieces) {
        const auto& line = piece.line;
        if (line.length() < kHead)
            continue;
        const auto along = line.unitVector();
        const QPointF step(along.dx(), along.dy());
        const QPointF side(-step.y(), step.x());
        painter->setPen(dtypePen(dtype));
        painter->drawLine(QLineF(line.p1(), line.p2() - step * (kHead - 1)));
        painter->setPen(Qt::NoPen);
        painter->setBrush(dtypeColour(theme(), dtype));
        const auto base = line.p2() - step * kHead;
        painter->drawPolygon(QPolygonF({line.p2(), base + side * 4.5, base - side * 4.5}));
        if (piece.named)
            paintName(*painter, line);
    }
}

void ArrowItem::paintName(QPainter& painter, const QLineF& line) const
{
    auto font = monoFont(TextSize::Tiny, QFont::DemiBold);
    const auto dtype = m_newDtype.isEmpty() ? now() : m_newDtype;
    const bool upright = std::abs(line.dy()) > std::abs(line.dx());
    const auto middle = line.center();
    auto name = dtype;
    if (!m_arrow.words.empty()) {
        font = uiFont(TextSize::Tiny, QFont::Medium);
        name = QString::fromStdString(m_arrow.words);
    }
    painter.setFont(font);
    painter.setPen(dtypeColour(theme(), dtype));
    const QFontMetricsF metrics(font);
    if (upright) {
        painter.drawText(QRectF(middle.x() + 8, middle.y() - 8, metrics.horizontalAdvance(name) + 4, 16),
                         Qt::AlignVCenter, name);
        return;
    }
    // Words break at hyphens where the gap is narrow: "found-" over "inf".
    const double width = std::max(line.length() + 6, 34.0);
    QStringList lines{name};
    if (metrics.horizontalAdvance(name) > width && name.contains(QLatin1Char('-'))) {
        const auto cut = name.indexOf(QLatin1Char('-')) + 1;
        lines = {name.left(cut), name.mid(cut)};
    }
    double top = middle.y() - 6 - 13 * static_cast<double>(lines.size());
    for (const auto& part : lines) {
        painter.drawText(QRectF(middle.x() - 40, top, 80, 13), Qt::AlignCenter, part);
        top += 13;
    }
    if (!m_newDtype.isEmpty() && m_newDtype != now()) {
        font.setStrikeOut(true);
        painter.setFont(font);
        painter.setPen(theme().text3);
        painter.drawText(QRectF(middle.x() - 40, middle.y() - 6 - 26, 80, 13), Qt::AlignCenter, now());
    }
}

} // namespace mantissa::ui
