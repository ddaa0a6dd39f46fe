#pragma once

#include "engine/core/training_service.h"
#include "engine/history/run_writer.h"
#include "engine/train/step_report.h"

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace mantissa {

/// Collects the ranks' reports in memory and, when those of a step are complete, hands them on: samples to
/// the feed and the history, events to both readers, progress. Calls from any thread. Only post(), tell() and
/// noteLosses() may wait for the history's disk; who asks never does.
class SessionRecorder {
public:
    /// `stepsBefore`: how many the run that this one goes on from has made.
    SessionRecorder(const RunPlan& plan, std::shared_ptr<RunWriter> writer, std::int64_t stepsBefore = 0);

    const std::vector<SeriesSpec>& series() const { return m_series.catalogue(); }
    MetricFeed& feed() { return m_feed; }

    void expect(std::int64_t steps); ///< Of the whole run.
    void post(int rank, const StepReport& report);
    void tell(RunEvent event); ///< `time` is filled in.
    void noteLosses(); ///< Says once, as an event, what is not shown and what is not stored.
    void close(); ///< What comes from a rank after this is ignored.

    std::vector<RunEvent> takeEvents();
    RunProgress progress() const;
    std::map<std::string, double> lastValues() const;

private:
    using Clock = std::chrono::steady_clock;

    double seconds() const { return std::chrono::duration<double>(Clock::now() - m_begin).count(); }
    std::vector<StepReport> complete(int rank, const StepReport& report);
    void record(const std::vector<StepReport>& reports);
    void keepLast(const std::vector<Sample>& samples);
    void advance(const StepReport& report);
    RunEvent lossEvent(const char* kind, std::string message) const;

    const Clock::time_point m_begin = Clock::now();
    const StepSeries m_series;
    const std::size_t m_ranks;
    const std::int64_t m_stepsBefore;
    const std::shared_ptr<RunWriter> m_writer;
    MetricFeed m_feed;
    mutable std::mutex m_mutex;
    std::map<std::int64_t, std::vector<std::optional<StepReport>>> m_pending; ///< By step.
    std::vector<RunEvent> m_events;
    RunProgress m_progress;
    double m_stepSeconds = 0.0; ///< Running mean.
    std::map<std::string, double> m_last;
    bool m_closed = false;
    bool m_saidTrouble = false;
    bool m_saidUnshown = false;
};

} // namespace mantissa
