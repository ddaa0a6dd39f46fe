#pragma once

#include <QObject>
#include <QTimer>

#include <functional>

class QWidget;

namespace mantissa::ui {

class ActionBar;
class RunLauncher;

/// What happens when the window is to close while a run goes on: asks once in a bar, stops the run, waits a
/// bounded time until its history and checkpoint are written, and lets the program end even where a rank
/// hangs.
class Closing : public QObject {
    Q_OBJECT

public:
    /// `leave` ends the program without waiting for anybody.
    Closing(RunLauncher& launcher, QWidget* page, std::function<void()> leave);

    ActionBar& bar() const { return *m_bar; }
    /// True where nothing runs; else shows the bar and answers false.
    bool mayClose();
    void setPatience(std::chrono::milliseconds patience) { m_patience = patience; }

signals:
    void allowed();

private:
    void ask();
    void stop();
    void keepRunning();
    void look();
    void leaveAtOnce();

    RunLauncher& m_launcher;
    ActionBar* m_bar;
    QWidget* m_stopButton = nullptr;
    QWidget* m_keepButton = nullptr;
    QTimer m_poll;
    std::chrono::milliseconds m_patience{20'000};
    std::chrono::milliseconds m_waited{0};
    std::function<void()> m_leave;
    QMetaObject::Connection m_quitting;
    bool m_done = false;
};

} // namespace mantissa::ui
