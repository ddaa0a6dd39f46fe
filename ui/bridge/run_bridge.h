#pragma once

#include "engine/core/training_service.h"

#include <QObject>
#include <QTimer>

#include <vector>

namespace mantissa::ui {

/// The one place where a run's threads meet Qt's. Lives on the window's thread, which also calls its signals.
/// Samples and events are fetched 30 times a second; a state is posted once, after all that came before it.
class RunBridge : public QObject {
    Q_OBJECT

public:
    explicit RunBridge(TrainingRun& run, QObject* parent = nullptr);

    /// Fetches what is there now. Called by the timer, and before a state is told.
    void deliver();

signals:
    void samplesArrived(const std::vector<mantissa::Sample>& samples);
    void eventsArrived(const std::vector<mantissa::RunEvent>& events);
    void progressed(const mantissa::RunProgress& progress);
    void stateChanged(const mantissa::RunStateEvent& event);

private:
    void tell(const RunStateEvent& event);
    void tellWhatIsAlreadySo();

    TrainingRun& m_run;
    QTimer m_poll;
    RunState m_told = RunState::Queued;
    Subscription m_states; // Last: cancelled before the rest of the bridge goes away.
};

} // namespace mantissa::ui
