#include "ui/widgets/memory_bar.h"

#include "ui/text/format.h"
#include "ui/theme/fonts.h"
#include "ui/theme/theme.h"

#include <QPainter>

#include <algorithm>

namespace mantissa::ui {
namespace {

constexpr int kBar = 16;
constexpr int kAbove = 10; // Between the bar and the lines.
constexpr int kLine = 24;
constexpr int kSwatch = 10;
constexpr int kAside = 18; // Swatch and its gap.
constexpr int kGap = 8;

QColor colourOf(const MemoryPart& part)
{
    return mixed(dtypeColour(theme(), part.dtype), theme().panel, part.strength);
}

} // namespace

MemoryBar::MemoryBar(QWidget* parent) : QWidget(parent)
{
    setFont(uiFont(TextSize::Small));
    setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
}

void MemoryBar::setParts(std::vector<MemoryPart> parts)
{
    m_parts = std::move(parts);
    QStringList words;
    for (const auto& part : m_parts)
        words << tr("%1 %2").arg(part.term, formatBytes(part.bytes));
    setAccessibleName(tr("Memory of one rank: %1, in all %2").arg(words.join(u", "), formatBytes(total())));
    updateGeometry();
    update();
}

QSize MemoryBar::sizeHint() const
{
    return {240, kBar + kAbove + static_cast<int>(m_parts.size() + 1) * kLine};
}

std::uint64_t MemoryBar::total() const
{
    std::uint64_t sum = 0;
    for (const auto& part : m_parts)
        sum += part.bytes;
    return sum;
}

void MemoryBar::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    paintBar(painter);
    int line = 0;
    for (const auto& part : m_parts)
        paintLine(painter, line++, part);
    painter.setFont(uiFont(TextSize::Small, QFont::DemiBold));
    painter.setPen(theme().text);
    const QRect room(0, kBar + kAbove + line * kLine, width(), kLine);
    painter.drawText(room.adjusted(kAside, 0, 0, 0), Qt::AlignVCenter | Qt::AlignLeft, tr("In all"));
    painter.drawText(room, Qt::AlignVCenter | Qt::AlignRight, formatBytes(total()));
}

void MemoryBar::paintBar(QPainter& painter) const
{
    const auto sum = static_cast<double>(std::max<std::uint64_t>(total(), 1));
    double left = 0.0;
    for (const auto& part : m_parts) {
        const double room = width() * static_cast<double>(part.bytes) / sum;
        if (room > 1.0) // A gap of one pixel is left between parts.
            painter.fillRect(QRectF(left, 0, room - 1.0, kBar), colourOf(part));
        left += room;
    }
}

void MemoryBar::paintLine(QPainter& painter, int line, const MemoryPart& part) const
{
    const QRect room(0, kBar + kAbove + line * kLine, width(), kLine);
    painter.fillRect(QRect(0, room.top() + (kLine - kSwatch) / 2, kSwatch, kSwatch), colourOf(part));
    painter.setFont(font());
    const QString bytes = formatBytes(part.bytes);
    const QFontMetrics metrics(font());
    painter.setPen(theme().text);
    painter.drawText(room, Qt::AlignVCenter | Qt::AlignRight, bytes);
    const int words = width() - kAside - metrics.horizontalAdvance(bytes) - kGap;
    const QString name = metrics.elidedText(part.term, Qt::ElideRight, words);
    painter.drawText(room.adjusted(kAside, 0, 0, 0), Qt::AlignVCenter | Qt::AlignLeft, name);
    const int taken = metrics.horizontalAdvance(name) + kGap;
    if (taken + metrics.horizontalAdvance(part.dtype) > words)
        return;
    painter.setPen(theme().text2);
    painter.drawText(room.adjusted(kAside + taken, 0, 0, 0), Qt::AlignVCenter | Qt::AlignLeft, part.dtype);
}

} // namespace mantissa::ui
