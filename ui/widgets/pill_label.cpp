#include "ui/widgets/pill_label.h"

#include "ui/theme/fonts.h"
#include "ui/theme/icons.h"
#include "ui/theme/style.h"

#include <QPainter>

namespace mantissa::ui {
namespace {
constexpr int kIcon = 14;
constexpr int kPadding = 8;
constexpr int kGap = 5;
} // namespace

PillLabel::PillLabel(QWidget* parent) : QWidget(parent)
{
    setFont(uiFont(TextSize::Small, QFont::Medium));
    setSizePolicy(QSizePolicy::Maximum, QSizePolicy::Fixed);
}

void PillLabel::setContent(Tone tone, const QString& text, const QString& iconName)
{
    m_tone = tone;
    m_text = text;
    m_icon = iconName.isEmpty() ? toneIcon(tone) : iconName;
    setAccessibleName(text);
    setToolTip(text);
    updateGeometry();
    update();
}

QSize PillLabel::sizeHint() const
{
    const QFontMetrics metrics(font());
    return {metrics.horizontalAdvance(m_text) + 2 * kPadding + 2 + (m_icon.isEmpty() ? 0 : kIcon + kGap),
            std::max(22, metrics.height() + 6)};
}

QSize PillLabel::minimumSizeHint() const
{
    return {std::min(sizeHint().width(), 120), sizeHint().height()};
}

void PillLabel::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    const auto colours = toneColours(theme(), m_tone);
    paintBox(painter, rect(), colours.fill, colours.line, height() / 2.0);
    double left = kPadding;
    if (!m_icon.isEmpty()) {
        paintIcon(painter, QRectF(left, (height() - kIcon) / 2.0, kIcon, kIcon), m_icon, colours.ink,
                  colours.fill);
        left += kIcon + kGap;
    }
    const QRectF room(left, 0, width() - left - kPadding + 1, height());
    painter.setPen(colours.ink);
    painter.setFont(font());
    painter.drawText(
        room, Qt::AlignVCenter | Qt::AlignLeft,
        QFontMetrics(font()).elidedText(m_text, Qt::ElideRight, static_cast<int>(room.width()) + 1));
}

} // namespace mantissa::ui
