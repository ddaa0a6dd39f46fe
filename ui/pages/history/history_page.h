#pragma once

#include "engine/history/resume_draft.h"
#include "ui/bridge/task_thread.h"
#include "ui/models/runs_model.h"
#include "ui/pages/page.h"

#include <QFileSystemWatcher>
#include <QTimer>

#include <filesystem>
#include <set>

class QLineEdit;
class QStackedWidget;

namespace mantissa::ui {

class MessageBar;
class PlainTable;
class StoredView;
class ThemedLabel;

/// All stored runs, and one of them in full. Files are read on a thread of their own.
class HistoryPage : public Page {
    Q_OBJECT

public:
    explicit HistoryPage(const PageServices& services, QWidget* parent = nullptr);
    ~HistoryPage() override;

    void activate() override;
    QString statusText() const override;

    RunsModel& runs() { return *m_runs; }
    RunsFilter& filter() { return *m_filter; }
    StoredView& view() { return *m_view; }
    QLineEdit& query() { return *m_query; }
    void open(const std::filesystem::path& folder);
    void showList();

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    QWidget* buildList();
    QWidget* buildQuery(QWidget* list);
    void buildTable();
    void fitColumns();
    void readList();
    void takeList(Result<std::vector<RunSummaryRow>> runs);
    void readFacts(const RunSummaryRow& row);
    void readOpenRun();
    void refreshRunning();
    void applyQuery();
    void spreadErrors();
    void showCounts();
    void openRow(const QModelIndex& index);
    void resume(const ResumeWish& wish, bool asDraft);
    void goOn(const ResumeDraft& draft);
    void rewind(qint64 step);

    PageServices m_services;
    RunsModel* m_runs;
    RunsFilter* m_filter;
    QStackedWidget* m_stack = nullptr;
    ThemedLabel* m_count = nullptr;
    ThemedLabel* m_shown = nullptr;
    ThemedLabel* m_empty = nullptr;
    QLineEdit* m_query = nullptr;
    PlainTable* m_table = nullptr;
    StoredView* m_view = nullptr;
    QFileSystemWatcher m_watcher;
    QTimer m_settle; ///< A folder changes in bursts.
    QTimer m_refresh; ///< While a run goes on.
    std::set<std::filesystem::path> m_readAfterEnd; ///< Their facts change no more.
    std::optional<Error> m_unread; ///< Why the folder with all runs cannot be read.
    bool m_reading = false;
    bool m_readAgain = false;
    TaskThread m_files; // Last: ended before the rest goes away.
};

} // namespace mantissa::ui
