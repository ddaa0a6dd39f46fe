#include "engine/train/session_recorder.h"

#include "engine/train/session_events.h"

#include <algorithm>
#include <utility>

namespace mantissa {
namespace {

constexpr std::size_t kFeedCapacity = 1 << 17; // several seconds of the fastest run
constexpr std::int64_t kStepsBetweenHistoryChecks = 64;
constexpr double kNewestShare = 0.05; // of the running mean of step times

} // namespace

SessionRecorder::SessionRecorder(const RunPlan& plan, std::shared_ptr<RunWriter> writer)
    : m_series(plan),
      m_ranks(static_cast<std::size_t>(plan.ranks)),
      m_writer(std::move(writer)),
      m_feed(kFeedCapacity)
{
}

void SessionRecorder::expect(std::int64_t steps)
{
    const std::scoped_lock lock(m_mutex);
    m_progress.total = steps;
}

void SessionRecorder::post(int rank, const StepReport& report)
{
    const std::scoped_lock lock(m_mutex);
    if (m_closed)
        return;
    auto& reports = m_pending[report.step];
    reports.resize(m_ranks);
    reports[static_cast<std::size_t>(rank)] = report;
    if (!std::all_of(reports.begin(), reports.end(), [](const auto& each) { return each.has_value(); }))
        return;
    std::vector<StepReport> complete;
    for (auto& each : reports)
        complete.push_back(std::move(*each));
    m_pending.erase(report.step);
    record(complete);
}

void SessionRecorder::record(const std::vector<StepReport>& reports)
{
    const double time = seconds();
    std::vector<Sample> samples;
    for (std::size_t rank = 0; rank < reports.size(); ++rank) {
        const auto own = m_series.samples(reports[rank], static_cast<int>(rank), time);
        samples.insert(samples.end(), own.begin(), own.end());
    }
    m_feed.push(samples);
    m_writer->append(samples);
    if (reports.front().step == 0)
        recordEvent(stageTrace(reports.front(), time));
    for (const auto& event : eventsOf(reports, time))
        recordEvent(event);
    keepLast(samples);
    advance(reports.front());
    checkHistory(reports.front().step);
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
    m_progress.skipped += report.skipped ? 1 : 0;
    m_stepSeconds = report.step == 0 ? report.stepSeconds
                                     : m_stepSeconds + kNewestShare * (report.stepSeconds - m_stepSeconds);
    if (m_progress.total > 0)
        m_progress.secondsLeft = m_stepSeconds
            * static_cast<double>(std::max<std::int64_t>(0, m_progress.total - m_progress.step));
}

// A full disk does not end the training; it is said once.
void SessionRecorder::checkHistory(std::int64_t step)
{
    if (m_saidHistoryLost || step % kStepsBetweenHistoryChecks != 0)
        return;
    const auto health = m_writer->health();
    if (health)
        return;
    m_saidHistoryLost = true;
    RunEvent event;
    event.step = step;
    event.time = seconds();
    event.kind = "history_lost";
    event.stage = stageId(Stage::Record);
    event.message = health.error().message;
    m_events.push_back(std::move(event));
}

void SessionRecorder::recordEvent(const RunEvent& event)
{
    m_events.push_back(event);
    m_writer->append(event);
}

void SessionRecorder::tell(RunEvent event)
{
    const std::scoped_lock lock(m_mutex);
    event.time = seconds();
    recordEvent(event);
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
