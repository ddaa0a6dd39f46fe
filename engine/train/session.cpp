#include "engine/train/session.h"

#include "engine/core/counted.h"
#include "engine/core/error_id.h"
#include "engine/core/guarded.h"
#include "engine/train/checkpoint_keeper.h"
#include "engine/train/session_environment.h"
#include "engine/train/session_recorder.h"

#include <nlohmann/json.hpp>

#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

namespace mantissa {
namespace {

/// How a run ended, before it is written down.
struct Ending {
    RunState state = RunState::Finished;
    std::string message;
    std::string hint;
};

/// A series that nobody records would leave the best checkpoint unknown.
Result<void> checkMonitor(const CheckpointPlan& plan, const std::vector<SeriesSpec>& series)
{
    std::string names;
    for (const auto& spec : series) {
        if (spec.rank >= 0)
            continue;
        if (plan.monitor.empty() || spec.name == plan.monitor)
            return {};
        names += (names.empty() ? "" : ", ") + spec.name;
    }
    return Error{ErrorCode::InvalidSetup,
                 "ModelCheckpoint watches " + plan.monitor + ", which this run does not record.",
                 "It records " + names + "."};
}

class Session final : public TrainingRun {
public:
    Session(const RunRequest& request, const SessionOptions& options, std::unique_ptr<RunWriter> writer,
            std::shared_ptr<EngineLoad> load);
    ~Session() override;

    std::string id() const override { return m_writer->id(); }
    std::filesystem::path folder() const override { return m_writer->folder(); }
    std::vector<SeriesSpec> series() const override { return m_recorder->series(); }
    MetricFeed& feed() override { return m_recorder->feed(); }
    std::vector<RunEvent> takeEvents() override { return m_recorder->takeEvents(); }
    RunState state() const override;
    RunProgress progress() const override { return m_recorder->progress(); }
    Subscription onStateChanged(Publisher<RunStateEvent>::Callback callback) override
    {
        return m_states.subscribe(std::move(callback));
    }

    void pause() override { m_gate->pause(); }
    void resume() override { m_gate->resume(); }
    void stop() override;

    bool wait(std::chrono::milliseconds atMost) override;
    RunSummary summary() const override;
    bool leftRanksBehind() const override;

private:
    void run();
    Ending train();
    CrewOrders ordersFor(const std::shared_ptr<CheckpointKeeper>& keeper);
    std::shared_ptr<CheckpointKeeper> makeKeeper();
    void tellResumed();
    Ending failBeforeRanks(const Error& error);
    Ending endingOf(CrewOutcome& outcome, CheckpointKeeper& keeper);
    void tellFailure(const RankFailure& failure);
    void writeDown(Ending& ending);
    void leave(const Ending& ending);
    void enter(RunState state, const std::string& message, const std::string& hint);

    const RunPlan m_plan;
    const SessionOptions m_options;
    const std::shared_ptr<RunWriter> m_writer;
    const std::optional<ResumePoint> m_resume;
    const std::shared_ptr<SessionRecorder> m_recorder;
    const std::shared_ptr<EngineLoad> m_load;
    const std::shared_ptr<RankSource> m_source;
    std::shared_ptr<SessionGate> m_gate;
    Publisher<RunStateEvent> m_states;
    std::mutex m_entering; ///< Keeps states in order from the change to its publication.
    mutable std::mutex m_mutex;
    std::condition_variable m_endedChanged;
    RunState m_state = RunState::Queued;
    std::string m_message;
    std::string m_hint;
    bool m_stopAsked = false;
    bool m_ended = false; ///< The history is committed as well.
    bool m_stuck = false;
    std::optional<std::chrono::steady_clock::time_point> m_closeBy;
    RankCrew* m_crew = nullptr; ///< While ranks work.
    std::jthread m_thread; ///< Last: it uses all of the above.
};

Session::Session(const RunRequest& request, const SessionOptions& options, std::unique_ptr<RunWriter> writer,
                 std::shared_ptr<EngineLoad> load)
    : m_plan(request.plan),
      m_options(options),
      m_writer(std::move(writer)),
      m_resume(request.resume),
      m_recorder(
          std::make_shared<SessionRecorder>(request.plan, m_writer, m_resume ? m_resume->parentStep + 1 : 0)),
      m_load(std::move(load)),
      m_source(options.makeSource(request))
{
    m_gate = std::make_shared<SessionGate>(
        m_plan.ranks, [this](bool paused) { enter(paused ? RunState::Paused : RunState::Running, {}, {}); });
    m_load->runs.fetch_add(
        1); // The last thing before the thread that takes it back: what throws above leaves no trace.
    m_thread = std::jthread([this] { run(); });
}

Session::~Session()
{
    stop();
    const auto deadline = std::chrono::steady_clock::now() + m_options.patience;
    {
        const std::scoped_lock lock(m_mutex);
        m_closeBy = deadline;
        if (m_crew)
            m_crew->close(deadline);
    }
    m_thread.join();
}

RunState Session::state() const
{
    const std::scoped_lock lock(m_mutex);
    return m_state;
}

bool Session::leftRanksBehind() const
{
    const std::scoped_lock lock(m_mutex);
    return m_stuck;
}

void Session::stop()
{
    m_gate->stop();
    const std::scoped_lock lock(m_mutex);
    m_stopAsked = true;
    if (m_crew)
        m_crew->endStalls();
}

bool Session::wait(std::chrono::milliseconds atMost)
{
    std::unique_lock lock(m_mutex);
    return m_endedChanged.wait_for(lock, atMost, [this] { return m_ended; });
}

RunSummary Session::summary() const
{
    const RunProgress progress = m_recorder->progress();
    RunSummary summary;
    summary.id = m_writer->id();
    summary.folder = m_writer->folder();
    summary.steps = progress.step;
    summary.skipped = progress.skipped;
    summary.final = m_recorder->lastValues();
    summary.lostPoints = progress.lostPoints;
    const std::scoped_lock lock(m_mutex);
    summary.state = m_state;
    summary.message = m_message;
    summary.hint = m_hint;
    return summary;
}

// The session's thread from here on.
void Session::run()
{
    giveWay();
    Ending ending;
    const auto trained = guarded("the run", [&]() -> Result<void> {
        ending = train();
        return {};
    });
    if (!trained)
        ending = {RunState::Failed, trained.error().message, trained.error().hint};
    const auto written = guarded("writing down the run's end", [&]() -> Result<void> {
        writeDown(ending);
        return {};
    });
    if (!written)
        ending.message += (ending.message.empty() ? "" : " ") + written.error().message;
    leave(ending);
}

Ending Session::train()
{
    enter(RunState::Running, {}, {});
    if (auto prepared = m_source->prepare(); !prepared)
        return failBeforeRanks(prepared.error());
    auto group = m_source->meet(m_plan.ranks, m_options.collectiveTimeout);
    if (!group)
        return failBeforeRanks(group.error());
    tellResumed();
    m_recorder->expect(m_source->totalSteps());
    const auto keeper = makeKeeper();
    RankCrew crew(ordersFor(keeper), *group);
    crew.start();
    {
        const std::scoped_lock lock(m_mutex);
        m_crew = &crew;
        if (m_stopAsked)
            crew.endStalls();
        if (m_closeBy)
            crew.close(*m_closeBy);
    }
    CrewOutcome outcome = crew.waitForEnd();
    {
        const std::scoped_lock lock(m_mutex);
        m_crew = nullptr;
        m_stuck = !outcome.stuck.empty();
    }
    return endingOf(outcome, *keeper);
}

CrewOrders Session::ordersFor(const std::shared_ptr<CheckpointKeeper>& keeper)
{
    CrewOrders orders;
    orders.ranks = m_plan.ranks;
    orders.collectiveTimeout = m_options.collectiveTimeout;
    orders.patience = m_options.patience;
    orders.source = m_source;
    orders.gate = m_gate;
    orders.report = [recorder = m_recorder](int rank, const StepReport& report) {
        recorder->post(rank, report);
    };
    orders.wantsState = m_plan.checkpoints.atEnd;
    orders.stateEvery = m_plan.checkpoints.everySteps;
    orders.keep = [keeper](int rank, std::int64_t stepsDone, TrainerState state) {
        keeper->take(rank, stepsDone, std::move(state));
    };
    orders.load = m_load;
    return orders;
}

std::shared_ptr<CheckpointKeeper> Session::makeKeeper()
{
    const auto watched = [recorder = m_recorder,
                          series = m_plan.checkpoints.monitor]() -> std::optional<double> {
        const auto values = recorder->lastValues();
        const auto found = values.find(series);
        return found == values.end() ? std::nullopt : std::optional(found->second);
    };
    return std::make_shared<CheckpointKeeper>(
        m_plan.checkpoints, m_writer, m_plan.ranks,
        [recorder = m_recorder](RunEvent event) { recorder->tell(std::move(event)); }, watched);
}

void Session::tellResumed()
{
    if (!m_resume)
        return;
    RunEvent event;
    event.step = m_resume->parentStep + 1;
    event.kind = "resumed";
    event.stage = stageId(Stage::Setup);
    event.message =
        "Goes on from step " + std::to_string(m_resume->parentStep) + " of run " + m_resume->parentRun + ".";
    m_recorder->tell(std::move(event));
}

Ending Session::failBeforeRanks(const Error& error)
{
    RankFailure failure;
    failure.rank = -1;
    failure.code = error.code;
    failure.cause = error.message;
    tellFailure(failure);
    return {RunState::Failed, error.message, error.hint};
}

Ending Session::endingOf(CrewOutcome& outcome, CheckpointKeeper& keeper)
{
    Ending ending;
    if (outcome.failure) {
        tellFailure(*outcome.failure);
        ending = {RunState::Failed, describe(*outcome.failure), outcome.failure->hint};
    } else if (outcome.closed) {
        ending = {RunState::Interrupted,
                  "The run was closed within a step; its last checkpoint and all it recorded are kept.",
                  {}};
    } else {
        ending.state = outcome.stopped ? RunState::Stopped : RunState::Finished;
        if (!outcome.states.empty())
            ending.message = keeper.finish(m_recorder->progress().step, std::move(outcome.states));
    }
    for (const int rank : outcome.stuck)
        ending.message += " Rank " + std::to_string(rank) + " did not end and still holds its thread.";
    return ending;
}

void Session::tellFailure(const RankFailure& failure)
{
    RunEvent event;
    event.step = failure.step;
    event.kind = "failure";
    event.stage = stageId(failure.stage);
    event.rank = failure.rank;
    event.message = failure.rank < 0 ? failure.cause : describe(failure);
    nlohmann::json detail = {{"code", errorId(failure.code)}};
    if (failure.onPurpose)
        detail["on_purpose"] = true;
    event.detail = detail.dump();
    m_recorder->tell(event);
}

void Session::writeDown(Ending& ending)
{
    m_recorder->close();
    const std::int64_t steps = m_recorder->progress().step;
    const auto finished = m_writer->finish(ending.state, steps - 1);
    m_recorder->noteLosses();
    if (const auto lost = m_writer->lostCount(); !finished && lost > 0)
        ending.message += (ending.message.empty() ? "" : " ")
            + ("The history is not whole: " + counted(static_cast<std::int64_t>(lost), "record")
               + (lost == 1 ? " is" : " are") + " lost. " + finished.error().message);
}

/// Whatever happened before, and whatever a subscriber throws: who waits for the end is woken.
void Session::leave(const Ending& ending)
{
    m_load->runs.fetch_sub(1);
    (void)guarded("telling the run's end", [&]() -> Result<void> {
        enter(ending.state, ending.message, ending.hint);
        return {};
    });
    const std::scoped_lock lock(m_mutex);
    m_ended = true;
    m_endedChanged.notify_all();
}

void Session::enter(RunState state, const std::string& message, const std::string& hint)
{
    const std::scoped_lock order(m_entering);
    {
        const std::scoped_lock lock(m_mutex);
        m_state = state;
        m_message = message;
        m_hint = hint;
    }
    if (!hasEnded(state))
        m_writer->setState(state);
    m_states.publish({state, message, hint});
}

} // namespace

Result<std::unique_ptr<TrainingRun>> startSession(const RunRequest& request, const SessionOptions& options,
                                                  std::shared_ptr<EngineLoad> load)
{
    RunStart start;
    start.history = request.history;
    start.name = request.name;
    start.kind = request.kind;
    start.setupText = request.setupText;
    start.effective = effectiveSettings(request.plan);
    start.findings = request.findingsJson;
    start.assumed = request.assumedJson;
    start.environment = runEnvironment(request.plan);
    start.series = StepSeries(request.plan).catalogue();
    if (const auto watched = checkMonitor(request.plan.checkpoints, start.series); !watched)
        return watched.error();
    if (request.resume) {
        start.parentRun = request.resume->parentRun;
        start.parentStep = request.resume->parentStep;
    }
    auto writer = options.makeWriter(start);
    if (!writer)
        return writer.error();
    return std::unique_ptr<TrainingRun>(
        std::make_unique<Session>(request, options, *std::move(writer), std::move(load)));
}

} // namespace mantissa
