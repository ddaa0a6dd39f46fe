#include "ui/bridge/run_bridge.h"

#include <QMetaObject>

#include <chrono>

namespace mantissa::ui {
namespace {

constexpr std::chrono::milliseconds kPollInterval{33};

} // namespace

RunBridge::RunBridge(TrainingRun& run, QObject* parent) : QObject(parent), m_run(run)
{
    connect(&m_poll, &QTimer::timeout, this, &RunBridge::deliver);
    m_poll.start(kPollInterval);

    // Runs on the engine's thread; only posts.
    m_states = run.onStateChanged([this](const RunStateEvent& event) {
        QMetaObject::invokeMethod(
            this, [this, event] { tell(event); }, Qt::QueuedConnection);
    });
    // A short run may have ended before anybody listened.
    QMetaObject::invokeMethod(
        this, [this] { tellWhatIsAlreadySo(); }, Qt::QueuedConnection);
}

void RunBridge::deliver()
{
    const auto samples = m_run.feed().drain();
    if (!samples.empty())
        emit samplesArrived(samples);
    const auto events = m_run.takeEvents();
    if (!events.empty())
        emit eventsArrived(events);
    if (!samples.empty() || !events.empty())
        emit progressed(m_run.progress());
}

void RunBridge::tell(const RunStateEvent& event)
{
    if (event.state == m_told || hasEnded(m_told))
        return;
    m_told = event.state;
    deliver();
    if (hasEnded(event.state))
        m_poll.stop();
    emit progressed(m_run.progress());
    emit stateChanged(event);
}

void RunBridge::tellWhatIsAlreadySo()
{
    const auto summary = m_run.summary();
    if (hasEnded(summary.state))
        tell({summary.state, summary.message, summary.hint});
    else
        tell({summary.state, {}, {}});
}

} // namespace mantissa::ui
