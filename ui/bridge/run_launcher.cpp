#include "ui/bridge/run_launcher.h"

#include "engine/core/guarded.h"
#include "ui/bridge/engine_loader.h"

#include <QMetaObject>

#include <utility>

namespace mantissa::ui {

RunLauncher::RunLauncher(EngineLoader& engine, QObject* parent) : QObject(parent), m_engine(engine)
{
    connect(&m_engine, &EngineLoader::stateChanged, this, &RunLauncher::goOn);
}

RunLauncher::~RunLauncher()
{
    m_bridge.reset(); // Before its run.
}

bool RunLauncher::isBusy() const
{
    return isStarting() || (m_run && !hasEnded(m_run->state()));
}

void RunLauncher::start(RunRequest request)
{
    if (isBusy())
        return;
    m_stopAsked = false;
    m_waiting = std::move(request);
    emit starting();
    m_engine.load();
    goOn();
}

void RunLauncher::goOn()
{
    if (!m_waiting)
        return;
    if (m_engine.state() == EngineLoader::State::Missing) {
        m_waiting.reset();
        emit refused(m_engine.error());
    } else if (m_engine.state() == EngineLoader::State::Ready) {
        startOnWorker(*std::exchange(m_waiting, std::nullopt));
    }
}

void RunLauncher::startOnWorker(RunRequest request)
{
    m_starting = true;
    m_leftRanks = leftRanksBehind();
    m_bridge.reset();
    auto previous =
        std::make_shared<std::unique_ptr<TrainingRun>>(std::move(m_run)); // A functor must be copyable.
    // Assigning joins the worker of the start before, which is done.
    m_worker = std::jthread([this, &service = *m_engine.service(), request = std::move(request), previous] {
        previous->reset(); // Its memory goes before the next run's comes.
        auto started = std::make_shared<Result<std::unique_ptr<TrainingRun>>>(
            guarded("starting the run", [&] { return service.start(request); }));
        QMetaObject::invokeMethod(
            this, [this, started] { take(std::move(*started)); }, Qt::QueuedConnection);
    });
}

void RunLauncher::take(Result<std::unique_ptr<TrainingRun>> started)
{
    m_starting = false;
    if (!started) {
        emit refused(started.error());
        return;
    }
    m_run = *std::move(started);
    m_bridge = std::make_unique<RunBridge>(*m_run);
    connect(m_bridge.get(), &RunBridge::samplesArrived, this, &RunLauncher::samplesArrived);
    connect(m_bridge.get(), &RunBridge::eventsArrived, this, &RunLauncher::eventsArrived);
    connect(m_bridge.get(), &RunBridge::progressed, this, &RunLauncher::progressed);
    connect(m_bridge.get(), &RunBridge::stateChanged, this, &RunLauncher::stateChanged);
    emit this->started();
    if (m_stopAsked)
        m_run->stop();
}

void RunLauncher::pause()
{
    if (m_run)
        m_run->pause();
}

void RunLauncher::resume()
{
    if (m_run)
        m_run->resume();
}

void RunLauncher::stop()
{
    m_stopAsked = true;
    if (m_run)
        m_run->stop();
}

bool RunLauncher::settled(std::chrono::milliseconds atMost)
{
    return !isStarting() && (!m_run || m_run->wait(atMost));
}

} // namespace mantissa::ui
