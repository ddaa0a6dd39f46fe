#pragma once

#include "engine/core/training_service.h"
#include "ui/bridge/run_bridge.h"

#include <QObject>

#include <chrono>
#include <memory>
#include <optional>
#include <thread>

namespace mantissa::ui {

class EngineLoader;

/// Starts runs, one after another, and owns the latest. Waiting for the engine and starting happen on other
/// threads, so that the window never waits. Used on the window's thread alone.
class RunLauncher : public QObject {
    Q_OBJECT

public:
    explicit RunLauncher(EngineLoader& engine, QObject* parent = nullptr);
    ~RunLauncher() override;

    /// The latest run, null before the first. Stays after its end until the next start.
    TrainingRun* run() const { return m_run.get(); }
    bool isStarting() const { return m_waiting || m_starting; }
    /// Starting, or started and not ended.
    bool isBusy() const;
    /// The latest run was told to stop.
    bool isStopAsked() const { return m_stopAsked; }

    /// Some rank of this run or of one before never came back: the program can only be left by _exit.
    bool leftRanksBehind() const { return m_leftRanks || (m_run && m_run->leftRanksBehind()); }

    /// Answers with started() or refused(). Nothing happens while a run is going.
    void start(RunRequest request);
    void pause();
    void resume();
    void stop();

    /// True once nothing runs and the last run's history is committed. Waits no longer than `atMost`.
    bool settled(std::chrono::milliseconds atMost = std::chrono::milliseconds{0});

signals:
    void starting();
    void started();
    void refused(const mantissa::Error& error);
    void samplesArrived(const std::vector<mantissa::Sample>& samples);
    void eventsArrived(const std::vector<mantissa::RunEvent>& events);
    void progressed(const mantissa::RunProgress& progress);
    void stateChanged(const mantissa::RunStateEvent& event);

private:
    void goOn();
    void startOnWorker(RunRequest request);
    void take(Result<std::unique_ptr<TrainingRun>> started);

    EngineLoader& m_engine;
    std::optional<RunRequest> m_waiting; ///< For the engine.
    std::unique_ptr<TrainingRun> m_run;
    std::unique_ptr<RunBridge> m_bridge;
    bool m_starting = false;
    bool m_stopAsked = false;
    bool m_leftRanks = false; ///< By a run before the latest.
    std::jthread m_worker; // Last: joined before the rest goes away.
};

} // namespace mantissa::ui
