#include "ui/plot/tick_text.h"

#include "ui/text/format.h"

#include <array>
#include <cmath>

namespace mantissa::ui {

QString tickText(double value)
{
    if (value == 0.0)
        return QStringLiteral("0");
    const double size = std::abs(value);
    if (size >= 1e4 && size < 1e7)
        return formatCount(std::llround(value));
    if (size >= 1e-3 && size < 1e4)
        return QString::number(value, 'g', 5);
    const auto text = QString::number(value, 'e', 2);
    auto digits = text.left(text.indexOf(u'e'));
    while (digits.endsWith(u'0'))
        digits.chop(1);
    if (digits.endsWith(u'.'))
        digits.chop(1);
    return digits + u'e' + QString::number(text.mid(text.indexOf(u'e') + 1).toInt()); // "3e-04" is wide.
}

QString powerText(int base, int exponent)
{
    static constexpr std::array<char16_t, 10> kRaised = {u'⁰', u'¹', u'²', u'³', u'⁴',
                                                         u'⁵', u'⁶', u'⁷', u'⁸', u'⁹'};
    auto text = QString::number(base);
    for (const auto digit : QString::number(exponent))
        text += digit == u'-' ? QChar(u'⁻') : QChar(kRaised[static_cast<std::size_t>(digit.digitValue())]);
    return text;
}

} // namespace mantissa::ui
