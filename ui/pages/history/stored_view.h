#pragma once

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
    const std::filesystem::path& folder() const { return m_row.folder; }
    const RunSummaryRow& row() const { return m_row; }

    RunPlot& plot() { return *m_plot; }
    FailureView& failureView() { return *m_failureView; }
    QString setupText() const;

signals:
    void backAsked();
    void explanationAsked(const QString& id);
    void draftAsked(const QString& yaml, const QString& name);

private:
    enum Tab { PlotsTab, SetupTab, CheckpointsTab, FailureTab };

    void buildHeader();
    QWidget* buildTabs();
    void showTab(int tab);
    void askDraft(const QString& yaml);
    QWidget* buildPlots();
    QWidget* buildTexts();
    QWidget* buildCheckpoints();
    void showText(int which);
    void showState();
    void showFailure(const std::vector<RunEvent>& events);

    RunSummaryRow m_row;
    StoredSetup m_setup;
    PageHeader* m_header = nullptr;
    ThemedLabel* m_name = nullptr;
    ThemedLabel* m_when = nullptr;
    PillLabel* m_pill = nullptr;
    QToolButton* m_draft = nullptr;
    MessageBar* m_messages = nullptr;
    ActionBar* m_failed = nullptr;
    QPushButton* m_explain = nullptr;
    QTabBar* m_tabs = nullptr;
    QStackedWidget* m_stack = nullptr;
    QWidget* m_plotTools = nullptr;
    RunPlot* m_plot = nullptr;
    FailureView* m_failureView = nullptr;
    QTabBar* m_textTabs = nullptr;
    QPlainTextEdit* m_text = nullptr;
    CheckpointsModel* m_checkpoints = nullptr;
    ThemedLabel* m_noCheckpoints = nullptr;
    RunSide* m_side = nullptr;
};

} // namespace mantissa::ui
