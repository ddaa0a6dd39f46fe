#include "engine/train/session_recorder.h"

#include "engine/train/session_events.h"

#include <algorithm>
#include <utility>

namespace mantissa {
namespace {

constexpr std::size_t kFeedCapacity = 1 << 17; // several seconds of the fastest run
constexpr double kNewestShare = 0.05; // of the running mean of step times

} // namespace

SessionRecorder::SessionRecorder(const RunPlan& plan, std::shared_ptr<RunWriter> writer,
                                 std::int64_t stepsBefore)
    : m_series(plan),
      m_ranks(static_cast<std::size_t>(plan.ranks)),
      m_stepsBefore(stepsBefore),
      m_writer(std::move(writer)),
      m_feed(kFeedCapacity)
{
    m_progress.step = stepsBefore;
}

void SessionRecorder::expect(std::int64_t steps)
{
    const std::scoped_lock lock(m_mutex);
    m_progress.total = steps;
}

void SessionRecorder::post(int rank, const StepReport& report)
{
    if (const auto reports = complete(rank, report); !reports.empty())
        record(reports);
}

/// The reports of all ranks, once this was the last of its step. Steps come out in their order: no rank
/// begins one before its report of the step before is recorded.
std::vector<StepReport> SessionRecorder::complete(int rank, const StepReport& report)
{
    std::vector<StepReport> complete;
    const std::scoped_lock lock(m_mutex);
    if (m_closed)
        return complete;
    auto& reports = m_pending[report.step];
    reports.resize(m_ranks);
    reports[static_cast<std::size_t>(rank)] = report;
    if (!std::all_of(reports.begin(), reports.end(), [](const auto& each) { return each.has_value(); }))
        return complete;
    for (auto& each : reports)
        complete.push_back(std::move(*each));
    m_pending.erase(report.step);
    return complete;
}

void SessionRecorder::record(const std::vector<StepReport>& reports)
{
    const double time = seconds();
    std::vector<Sample> samples;
    for (std::size_t rank = 0; rank < reports.size(); ++rank) {
        const auto own = m_series.samples(reports[rank], static_cast<int>(rank), time);
        samples.insert(samples.end(), own.begin(), own.end());
    }
    auto events = eventsOf(reports, time);
    if (reports.front().step == m_stepsBefore)
        events.insert(events.begin(), stageTrace(reports.front(), time));
    m_feed.push(samples);
    {
        const std::scoped_lock lock(m_mutex);
        m_events.insert(m_events.end(), events.begin(), events.end());
        keepLast(samples);
        advance(reports.front());
    }
    m_writer->append(samples);
    if (!reports.front().histograms.empty())
        m_writer->append(reports.front().histograms);
    for (const auto& event : events)
        m_writer->append(event);
    noteLosses();
}

void SessionRecorder::keepLast(const std::vector<Sample>& samples)
{
    for (const auto& sample : samples) {
        const auto& spec = m_series.catalogue()[static_cast<std::size_t>(sample.series)];
        if (spec.rank < 0)
            m_last[spec.name] = sample.value;
    }
}

void SessionRecorder::advance(const StepReport& report)
{
    m_progress.step = report.step + 1;
    m_progress.skipped += report.skippedSteps;
    m_stepSeconds = report.step == m_stepsBefore
        ? report.stepSeconds
        : m_stepSeconds + kNewestShare * (report.stepSeconds - m_stepSeconds);
    if (m_progress.total > 0)
        m_progress.secondsLeft = m_stepSeconds
            * static_cast<double>(std::max<std::int64_t>(0, m_progress.total - m_progress.step));
}

// A full disk does not end the training; it is said once.
void SessionRecorder::noteLosses()
{
    const auto health = m_writer->health();
    const auto lost = m_writer->lostCount();
    const auto unshown = m_feed.droppedCount();
    std::vector<RunEvent> told;
    {
        const std::scoped_lock lock(m_mutex);
        m_progress.lostPoints = lost;
        m_progress.unshownPoints = unshown;
        if (!health)
            m_progress.historyTrouble =
                health.error().message + (health.error().hint.empty() ? "" : " " + health.error().hint);
        if (!health && !std::exchange(m_saidTrouble, true))
            told.push_back(lossEvent("history_lost", health.error().message));
        if (unshown > 0 && !std::exchange(m_saidUnshown, true))
            told.push_back(lossEvent("feed_dropped",
                                     "Points came faster than they were taken, and the live plot leaves some "
                                     "out. The history has them."));
        m_events.insert(m_events.end(), told.begin(), told.end());
    }
    for (const auto& event : told)
        m_writer->append(event);
}

RunEvent SessionRecorder::lossEvent(const char* kind, std::string message) const
{
    RunEvent event;
    event.step = std::max<std::int64_t>(0, m_progress.step - 1);
    event.time = seconds();
    event.kind = kind;
    event.stage = stageId(Stage::Record);
    event.message = std::move(message);
    return event;
}

void SessionRecorder::tell(RunEvent event)
{
    event.time = seconds();
    {
        const std::scoped_lock lock(m_mutex);
        m_events.push_back(event);
    }
    m_writer->append(event);
}

void SessionRecorder::close()
{
    const std::scoped_lock lock(m_mutex);
    m_closed = true;
}

std::vector<RunEvent> SessionRecorder::takeEvents()
{
    const std::scoped_lock lock(m_mutex);
    return std::exchange(m_events, {});
}

RunProgress SessionRecorder::progress() const
{
    const std::scoped_lock lock(m_mutex);
    return m_progress;
}

std::map<std::string, double> SessionRecorder::lastValues() const
{
    const std::scoped_lock lock(m_mutex);
    return m_last;
}

} // namespace mantissa
