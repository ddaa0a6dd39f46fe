#pragma once

#include "engine/history/resume_draft.h"
#include "ui/bridge/stored_run.h"
#include "ui/models/checkpoints_model.h"

#include <QWidget>

class QPlainTextEdit;
class QPushButton;
class QStackedWidget;
class QTabBar;
class QToolButton;

namespace mantissa::ui {

class ActionBar;
class FailureView;
class MessageBar;
class PageHeader;
class PillLabel;
class ResumeBar;
class RunPlot;
class RunSide;
class ThemedLabel;

/// One stored run: its plots, set-up, checkpoints, ranks and events.
class StoredView : public QWidget {
    Q_OBJECT

public:
    explicit StoredView(QWidget* parent = nullptr);

    /// Shows another run, or the same one with what came since.
    void show(const StoredRun& run);
    void showError(const std::filesystem::path& folder, const Error& error);
    void showReading(const QString& name);
    void showProblem(const Error& error); ///< What was asked for cannot be done.
    const std::filesystem::path& folder() const { return m_row.folder; }
    const RunSummaryRow& row() const { return m_row; }

    RunPlot& plot() { return *m_plot; }
    ResumeBar& resumeBar() { return *m_resumeBar; }
    /// Asks how the run shall go on, as soon as it is read.
    void askResume();
    FailureView& failureView() { return *m_failureView; }
    QString setupText() const;

signals:
    void backAsked();
    void explanationAsked(const QString& id);
    void draftAsked(const QString& yaml, const QString& name);
    void resumeAsked(const mantissa::ResumeWish& wish, bool asDraft);
    /// Replay the steps up to this one, to find the layer, rank and batch that made the first Inf or NaN.
    void rewindAsked(qint64 step);

private:
    enum Tab { PlotsTab, SetupTab, CheckpointsTab, FailureTab };

    void buildHeader();
    QWidget* buildTabs();
    void showTab(int tab);
    void askDraft(const QString& yaml);
    void offerRewind(const StoredRun& run);
    QWidget* buildPlots();
    QWidget* buildTexts();
    QWidget* buildCheckpoints();
    void showText(int which);
    void showState();
    void showDamage(const std::vector<std::string>& damage);
    void showFailure(const std::vector<RunEvent>& events);

    RunSummaryRow m_row;
    bool m_resumeWanted = false;
    StoredSetup m_setup;
    PageHeader* m_header = nullptr;
    ThemedLabel* m_name = nullptr;
    ThemedLabel* m_when = nullptr;
    PillLabel* m_pill = nullptr;
    QToolButton* m_resume = nullptr;
    QToolButton* m_draft = nullptr;
    ResumeBar* m_resumeBar = nullptr;
    MessageBar* m_messages = nullptr;
    ActionBar* m_failed = nullptr;
    QPushButton* m_explain = nullptr;
    QTabBar* m_tabs = nullptr;
    QStackedWidget* m_stack = nullptr;
    QWidget* m_plotTools = nullptr;
    QToolButton* m_rewind = nullptr;
    qint64 m_rewindTo = -1; ///< The first step with an Inf or NaN, or that failed.
    RunPlot* m_plot = nullptr;
    FailureView* m_failureView = nullptr;
    QTabBar* m_textTabs = nullptr;
    QPlainTextEdit* m_text = nullptr;
    CheckpointsModel* m_checkpoints = nullptr;
    ThemedLabel* m_noCheckpoints = nullptr;
    RunSide* m_side = nullptr;
};

} // namespace mantissa::ui
