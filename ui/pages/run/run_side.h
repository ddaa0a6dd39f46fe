#pragma once

#include "ui/models/events_model.h"
#include "ui/models/ranks_model.h"
#include "ui/text/run_words.h"
#include "ui/widgets/panels.h"

class QProgressBar;
class QVBoxLayout;

namespace mantissa::ui {

class AdviceList;
class PlainTable;
class StatusBox;
struct FailureAdvice;

/// What is known of a run beside its plots: how far it is, how it goes, its ranks, what happened.
class RunSide : public Surface {
    Q_OBJECT

public:
    explicit RunSide(QWidget* parent = nullptr);

    EventsModel& events() { return *m_events; }
    void addEvents(const std::vector<RunEvent>& events);
    RanksModel& ranks() { return *m_ranks; }

    void clear();
    void showProgress(const RunProgress& progress, double elapsedSeconds, RunState state);
    void showWords(const RunWords& words);
    void showRanks(const RunSeries& series);
    /// In place of the events, for a run that failed; empty brings the events back.
    void showAdvice(const std::vector<FailureAdvice>& advice);

signals:
    /// An event was chosen: show its step.
    void stepChosen(double step);
    void draftAsked(const QString& yaml);
    void resumeAsked();

private:
    void buildProgress(QVBoxLayout& column);
    void buildRanks(QVBoxLayout& column);
    void buildEvents(QVBoxLayout& column);

    EventsModel* m_events;
    RanksModel* m_ranks;
    ThemedLabel* m_step = nullptr;
    ThemedLabel* m_total = nullptr;
    ThemedLabel* m_percent = nullptr;
    QProgressBar* m_bar = nullptr;
    ThemedLabel* m_left = nullptr;
    ThemedLabel* m_elapsed = nullptr;
    StatusBox* m_status = nullptr;
    StatusBox* m_losses = nullptr;
    AdviceList* m_advice = nullptr;
    QWidget* m_eventsBlock = nullptr;
    PlainTable* m_ranksView = nullptr;
    ThemedLabel* m_remark = nullptr;
    ThemedLabel* m_memory = nullptr; ///< Measured beside the estimate.
    PlainTable* m_eventsView = nullptr;
};

} // namespace mantissa::ui
