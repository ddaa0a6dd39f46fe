#include "ui/diagram/chip_look.h"

#include "ui/theme/fonts.h"
#include "ui/theme/style.h"

#include <QFontMetricsF>
#include <QPainter>

namespace mantissa::ui {
namespace {

constexpr double kPadding = 5.0;

QFont chipFont(ChipLook look)
{
    auto font = monoFont(TextSize::Tiny, look == ChipLook::New ? QFont::DemiBold : QFont::Medium);
    font.setStrikeOut(look == ChipLook::Ghost);
    return font;
}

struct ChipColours {
    QColor ink, fill;
    QPen line;
};

ChipColours coloursOf(ChipLook look)
{
    const auto& colours = theme();
    switch (look) {
    case ChipLook::Set:
        return {colours.text, colours.panel, colours.borderStrong};
    case ChipLook::Default:
        return {colours.text2, colours.sunken, colours.border};
    case ChipLook::Ghost:
        return {colours.text3, Qt::transparent, QPen(colours.borderStrong, 1, Qt::DashLine)};
    case ChipLook::New:
        return {colours.accent, colours.accentWeak, colours.accent};
    case ChipLook::Refused:
        break;
    }
    return {colours.stop, colours.stopWeak, colours.stop};
}

} // namespace

double chipWidth(const QString& text)
{
    return QFontMetricsF(chipFont(ChipLook::New)).horizontalAdvance(text) + 2 * kPadding + 1;
}

void paintChip(QPainter& painter, const QRectF& rect, const QString& text, ChipLook look)
{
    const auto colours = coloursOf(look);
    paintBox(painter, rect, colours.fill, colours.line, kChipRadius);
    auto font = chipFont(look);
    const double least = rect.width() - 4;
    const double wanted = QFontMetricsF(font).horizontalAdvance(text);
    if (wanted > least && !text.isEmpty()) // A little tighter rather than cut.
        font.setLetterSpacing(QFont::AbsoluteSpacing,
                              std::max(-0.8, (least - wanted) / static_cast<double>(text.size()) - 0.05));
    const QFontMetricsF metrics(font);
    const double tight = std::clamp((rect.width() - metrics.horizontalAdvance(text)) / 2.0, 2.0, kPadding);
    const auto room = rect.adjusted(tight, 0, -tight, 0);
    painter.setFont(font);
    painter.setPen(colours.ink);
    painter.drawText(room.adjusted(0, 0, 2, 0), Qt::AlignVCenter | Qt::AlignLeft,
                     metrics.elidedText(text, Qt::ElideRight, room.width() + 1.5));
}

} // namespace mantissa::ui
