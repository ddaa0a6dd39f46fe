#include "ui/bridge/window_gap_meter.h"

#include <algorithm>
#include <chrono>

namespace mantissa::ui {
namespace {

constexpr std::chrono::milliseconds kBeat{2};

} // namespace

WindowGapMeter::WindowGapMeter(QObject* parent) : QObject(parent)
{
    m_timer.setTimerType(Qt::PreciseTimer);
    connect(&m_timer, &QTimer::timeout, this, &WindowGapMeter::beat);
    m_timer.start(kBeat);
    m_clock.start();
}

void WindowGapMeter::restart()
{
    m_longestMs = 0.0;
    m_clock.restart();
}

void WindowGapMeter::beat()
{
    const double elapsedMs =
        static_cast<double>(m_clock.nsecsElapsed()) / 1e6 - static_cast<double>(kBeat.count());
    m_longestMs = std::max(m_longestMs, elapsedMs);
    m_clock.restart();
}

} // namespace mantissa::ui
