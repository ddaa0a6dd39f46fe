#include "ui/text/format.h"

#include <QDateTime>
#include <QLocale>

#include <cmath>

namespace mantissa::ui {

QString formatCount(std::int64_t count)
{
    return QLocale(QLocale::English, QLocale::UnitedStates).toString(static_cast<qlonglong>(count));
}

QString formatBytes(std::uint64_t bytes)
{
    constexpr double kStep = 1024.0;
    static const QString units[] = {QStringLiteral("B"), QStringLiteral("kB"), QStringLiteral("MB"),
                                    QStringLiteral("GB"), QStringLiteral("TB")};
    auto value = static_cast<double>(bytes);
    std::size_t unit = 0;
    while (value >= kStep && unit + 1 < std::size(units)) {
        value /= kStep;
        ++unit;
    }
    const int decimals = unit == 0 || value >= 100.0 ? 0 : value >= 10.0 ? 1 : 2;
    return QString::number(value, 'f', decimals) + QLatin1Char(' ') + units[unit];
}

QString formatDuration(double seconds)
{
    if (!(seconds >= 0.0) || seconds > 1e9)
        return QStringLiteral("–");
    const auto whole = static_cast<long long>(std::llround(seconds));
    const auto two = [](long long n) { return QStringLiteral("%1").arg(n, 2, 10, QLatin1Char('0')); };
    const auto minutes = whole / 60 % 60;
    if (whole >= 3600)
        return QStringLiteral("%1:%2:%3").arg(whole / 3600).arg(two(minutes), two(whole % 60));
    return QStringLiteral("%1:%2").arg(minutes).arg(two(whole % 60));
}

QString formatNumber(double value, int digits)
{
    if (std::isnan(value))
        return QStringLiteral("NaN");
    if (std::isinf(value))
        return value > 0 ? QStringLiteral("+Inf") : QStringLiteral("−Inf");
    if (value == std::trunc(value) && std::abs(value) < 1e7)
        return QString::number(value, 'f', 0);
    return QString::number(value, 'g', digits);
}

QString formatTime(const QString& iso)
{
    const auto time = QDateTime::fromString(iso, Qt::ISODate).toLocalTime();
    if (!time.isValid())
        return iso;
    const auto clock = time.toString(QStringLiteral("HH:mm"));
    const auto days = time.daysTo(QDateTime::currentDateTime());
    if (days == 0)
        return clock;
    if (days == 1)
        return QStringLiteral("yesterday ") + clock;
    const auto format = days < 300 ? QStringLiteral("d MMM") : QStringLiteral("d MMM yyyy");
    return QLocale(QLocale::English).toString(time, format) + QLatin1Char(' ') + clock;
}

QString counted(std::int64_t count, const QString& one, const QString& many)
{
    return formatCount(count) + QLatin1Char(' ') + (count == 1 ? one : many);
}

} // namespace mantissa::ui
