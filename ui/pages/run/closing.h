#pragma once

#include <QObject>
#include <QTimer>

#include <chrono>
#include <functional>

class QPushButton;

namespace mantissa::ui {

class ActionBar;
class RunLauncher;

/// What happens when the window is to close while a run goes on: asks once in a bar, stops the run, waits a
/// bounded time until its history and checkpoint are written, and lets the program end even where a rank
/// hangs. An answer counts for that run alone, and only until the window stays open after all.
class Closing : public QObject {
    Q_OBJECT

public:
    /// `leave` ends the program without waiting for anybody.
    Closing(RunLauncher& launcher, QWidget* page, std::function<void()> leave);

    ActionBar& bar() const { return *m_bar; }
    QPushButton& stopButton() const { return *m_stopButton; }
    /// "Keep running", or, once it stops, "Keep the window open".
    QPushButton& keepButton() const { return *m_keepButton; }
    /// True where nothing runs; else shows the bar and answers false.
    bool mayClose();
    /// The same without a question: a run that goes on is stopped.
    bool mayEnd();
    void setPatience(std::chrono::milliseconds patience) { m_patience = patience; }

signals:
    void allowed();

private:
    enum class Phase {
        Open, ///< Nobody wants to close.
        Asking,
        Stopping,
        GivenUp ///< A rank does not answer: closing goes on without it.
    };

    void enter(Phase phase);
    void stop();
    void look();
    void leaveAtOnce(bool wanted);

    RunLauncher& m_launcher;
    ActionBar* m_bar;
    QPushButton* m_stopButton = nullptr;
    QPushButton* m_keepButton = nullptr;
    QTimer m_poll;
    std::chrono::milliseconds m_patience{60'000};
    std::chrono::milliseconds m_waited{0};
    std::function<void()> m_leave;
    QMetaObject::Connection m_quitting;
    Phase m_phase = Phase::Open;
};

} // namespace mantissa::ui
