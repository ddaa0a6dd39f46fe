#include "ui/plot/axis_range.h"

#include "ui/plot/tick_text.h"
#include "ui/text/format.h"

#include <algorithm>
#include <cmath>

namespace mantissa::ui {
namespace {

constexpr int kMostPowers = 4; // Labels on a logarithmic axis.
constexpr double kMarkRoom = 0.25; // Of the height of a low panel, over the curve: the marks stand there.

/// 1, 2 or 5 times a power of ten, at least `rough`.
double roundStep(double rough)
{
    const double power = std::pow(10.0, std::floor(std::log10(rough)));
    const double digit = rough / power;
    return power * (digit <= 1.0 ? 1.0 : digit <= 2.0 ? 2.0 : digit <= 5.0 ? 5.0 : 10.0);
}

QCPRange linearRange(double min, double max)
{
    if (max <= min) {
        const double room = min == 0.0 ? 1.0 : std::abs(min) * 0.1;
        return {min - room, max + room};
    }
    // Whole steps, so that the axis stands still while a run goes on.
    const double step = roundStep((max - min) / 8.0);
    return {std::floor((min - step * 0.2) / step) * step, std::ceil((max + step * 0.2) / step) * step};
}

QCPRange powerRange(double base, double min, double max)
{
    const double logBase = std::log(base);
    double lower = std::log(min) / logBase;
    double upper = std::log(max) / logBase;
    if (base == 2.0) {
        lower = std::floor(lower) - 1.0;
        upper = std::ceil(upper + std::max(1.0, (upper - lower) * kMarkRoom));
    } else {
        const double room = std::max(0.08, (upper - lower) * 0.08);
        lower = std::floor((lower - room) * 10.0) / 10.0;
        upper = std::ceil((upper + room) * 10.0) / 10.0;
    }
    return {std::pow(base, lower), std::pow(base, upper)};
}

class ShortTicker : public QCPAxisTicker {
public:
    explicit ShortTicker(int ticks) { setTickCount(ticks); }

protected:
    QString getTickLabel(double tick, const QLocale&, QChar, int) override { return tickText(tick); }
    int getSubTickCount(double) override { return 0; }
};

class StepTicker final : public ShortTicker {
public:
    StepTicker() : ShortTicker(6) {}

protected:
    double getTickStep(const QCPRange& range) override
    {
        return std::max(1.0, std::ceil(ShortTicker::getTickStep(range)));
    }
    QString getTickLabel(double tick, const QLocale&, QChar, int) override
    {
        return tick < 0.0 ? QString() : formatCount(std::llround(tick));
    }
};

class PowerTicker final : public QCPAxisTicker {
public:
    explicit PowerTicker(int base) : m_base(base) {}

protected:
    double getTickStep(const QCPRange&) override { return 1.0; }
    int getSubTickCount(double) override { return 0; }

    QVector<double> createTickVector(double, const QCPRange& range) override
    {
        const double logBase = std::log(m_base);
        const auto first = static_cast<int>(std::ceil(std::log(range.lower) / logBase - 1e-9));
        const auto last = static_cast<int>(std::floor(std::log(range.upper) / logBase + 1e-9));
        QVector<double> ticks;
        if (m_base == 10 && last - first < 1) {
            for (int exponent = first - 1; exponent <= last + 1; ++exponent) {
                for (const double digit : {1.0, 2.0, 5.0})
                    ticks.push_back(digit * std::pow(10.0, exponent));
            }
            return ticks;
        }
        int stride = 1;
        while ((last - first) / stride >= kMostPowers)
            ++stride;
        for (int exponent = first; exponent <= last; ++exponent) {
            if (((exponent % stride) + stride) % stride == 0)
                ticks.push_back(std::pow(m_base, exponent));
        }
        return ticks;
    }

    QString getTickLabel(double tick, const QLocale&, QChar, int) override
    {
        if (m_base == 10)
            return tickText(tick);
        return powerText(m_base, static_cast<int>(std::lround(std::log(tick) / std::log(m_base))));
    }

private:
    int m_base;
};

} // namespace

QCPRange rangeFor(PanelAxis axis, double min, double max)
{
    switch (axis) {
    case PanelAxis::Linear:
        return linearRange(min, max);
    case PanelAxis::LinearFromZero:
        return {0.0, max > 0.0 ? max * 1.12 : 1.0};
    case PanelAxis::Percent:
        return {0.0, 104.0};
    case PanelAxis::Log2:
        return powerRange(2.0, min, max);
    case PanelAxis::Log10:
        return powerRange(10.0, min, max);
    }
    return {min, max};
}

QSharedPointer<QCPAxisTicker> tickerFor(PanelAxis axis)
{
    switch (axis) {
    case PanelAxis::Log2:
        return QSharedPointer<QCPAxisTicker>(new PowerTicker(2));
    case PanelAxis::Log10:
        return QSharedPointer<QCPAxisTicker>(new PowerTicker(10));
    case PanelAxis::LinearFromZero:
    case PanelAxis::Percent:
        return QSharedPointer<QCPAxisTicker>(new ShortTicker(2));
    case PanelAxis::Linear:
        break;
    }
    return QSharedPointer<QCPAxisTicker>(new ShortTicker(3));
}

QSharedPointer<QCPAxisTicker> stepTicker()
{
    return QSharedPointer<QCPAxisTicker>(new StepTicker);
}

} // namespace mantissa::ui
