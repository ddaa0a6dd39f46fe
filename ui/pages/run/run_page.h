#pragma once

#include "ui/bridge/run_launcher.h"
#include "ui/bridge/task_thread.h"
#include "ui/pages/page.h"
#include "ui/plot/run_outline.h"

#include <QElapsedTimer>

class QAction;
class QPushButton;
class QStackedWidget;
class QToolButton;

namespace mantissa::ui {

class ActionBar;
class Closing;
class FailureView;
class MessageBar;
class PageHeader;
class PillLabel;
class RunPlot;
class RunSide;
class Segments;
class ThemedLabel;

/// The run that is going, or the last one: plots live, progress, ranks, events, and what to do when it fails.
class RunPage : public Page {
    Q_OBJECT

public:
    explicit RunPage(const PageServices& services, QWidget* parent = nullptr);
    ~RunPage() override;

    void addToMenus(const WindowMenus& menus) override;
    bool mayClose() override;
    bool mayEnd(int exitCode) override;
    QString statusText() const override;

    RunLauncher& launcher() { return m_launcher; }
    RunPlot& plot() { return *m_plot; }
    FailureView& failureView() { return *m_failureView; }
    Closing& closing() { return *m_closing; }

private:
    void buildHeader();
    void buildToolBar(QWidget* bar);
    void buildPlotTools(QWidget* bar);
    void buildBody();
    void buildFailedBar();

    void begin(const RunRequest& request);
    void showStarting();
    void showRefused(const Error& error);
    void takeSamples(const std::vector<Sample>& samples);
    void takeEvents(const std::vector<RunEvent>& events);
    void takeProgress(const RunProgress& progress);
    void takeState(const RunStateEvent& event);
    void showFailure(const RunStateEvent& event);
    void showButtons();
    void pauseOrResume();
    void openSetup();
    void askResume();
    bool hasOrigin() const;
    void compareReplay();
    void openDraft(const QString& yaml);
    void explain();
    void copyReport();
    void showInHistory();
    double elapsedSeconds() const;
    void showFailureView(bool failure);

    PageServices m_services;
    RunRequest m_request;
    RunOutline m_outline;
    RunProgress m_progress;
    RunState m_state = RunState::Queued;
    std::vector<RunEvent> m_events;
    QElapsedTimer m_clock;
    double m_elapsed = -1.0; ///< Of a run that ended, in seconds.
    bool m_hasCatalogue = false;
    int m_exitCode = 0;

    PageHeader* m_header = nullptr;
    ThemedLabel* m_name = nullptr;
    PillLabel* m_pill = nullptr;
    QPushButton* m_pause = nullptr;
    QPushButton* m_stop = nullptr;
    ThemedLabel* m_where = nullptr;
    QToolButton* m_openSetup = nullptr;
    QToolButton* m_following = nullptr;
    QToolButton* m_inHistory = nullptr;
    QToolButton* m_resume = nullptr;
    QAction* m_pauseAction = nullptr;
    QAction* m_stopAction = nullptr;
    MessageBar* m_messages = nullptr;
    ActionBar* m_failed = nullptr;
    QPushButton* m_explain = nullptr;
    Segments* m_views = nullptr; ///< Plots or failure, for a run that failed.
    QWidget* m_plotTools = nullptr;
    QStackedWidget* m_stack = nullptr;
    RunPlot* m_plot = nullptr;
    FailureView* m_failureView = nullptr;
    RunSide* m_side = nullptr;
    RunLauncher m_launcher;
    Closing* m_closing = nullptr;
    TaskThread m_files; // Last: ended before the rest goes away.
};

} // namespace mantissa::ui
