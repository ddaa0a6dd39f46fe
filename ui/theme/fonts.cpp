#include "ui/theme/fonts.h"

#include <QStringList>

namespace mantissa::ui {
namespace {

QFont sized(const QStringList& families, TextSize size, QFont::Weight weight)
{
    QFont font;
    font.setFamilies(families);
    font.setPointSizeF(static_cast<double>(size) * 0.75);
    font.setWeight(weight);
    return font;
}

} // namespace

QFont uiFont(TextSize size, QFont::Weight weight)
{
    return sized({QStringLiteral("Inter"), QStringLiteral("Noto Sans"), QStringLiteral("DejaVu Sans")}, size,
                 weight);
}

QFont monoFont(TextSize size, QFont::Weight weight)
{
    auto font = sized({QStringLiteral("JetBrains Mono"), QStringLiteral("DejaVu Sans Mono")}, size, weight);
    font.setStyleHint(QFont::Monospace);
    font.setFixedPitch(true);
    return font;
}

} // namespace mantissa::ui
