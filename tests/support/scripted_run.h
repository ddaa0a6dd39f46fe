#pragma once

#include "engine/history/run_writer.h"
#include "tests/support/scripted_service.h"

#include <condition_variable>
#include <map>
#include <thread>

namespace mantissa::test {

class ScriptedRun final : public TrainingRun {
public:
    ScriptedRun(RunScript script, std::unique_ptr<RunWriter> writer);
    ~ScriptedRun() override;

    std::string id() const override { return m_writer->id(); }
    std::filesystem::path folder() const override { return m_writer->folder(); }
    std::vector<SeriesSpec> series() const override { return m_script.series; }
    MetricFeed& feed() override { return m_feed; }
    std::vector<RunEvent> takeEvents() override;
    RunState state() const override;
    RunProgress progress() const override;
    Subscription onStateChanged(Publisher<RunStateEvent>::Callback callback) override
    {
        return m_states.subscribe(std::move(callback));
    }

    void pause() override { ask(RunState::Paused); }
    void resume() override { ask(RunState::Running); }
    void stop() override { ask(RunState::Stopped); }
    bool wait(std::chrono::milliseconds atMost) override;
    RunSummary summary() const override;
    bool leftRanksBehind() const override { return m_script.leavesRanks; }

private:
    void ask(RunState wanted);
    void play(const std::stop_token& stop);
    /// False when the run is to end here.
    bool mayGoOn(const std::stop_token& stop);
    void playStep(std::int64_t step);
    void tell(const RunEvent& event);
    void enter(RunState state, const std::string& message = {}, const std::string& hint = {});
    void end(std::int64_t done);
    void writeCheckpoint(std::int64_t step);

    const RunScript m_script;
    std::unique_ptr<RunWriter> m_writer;
    MetricFeed m_feed{1 << 20};
    Publisher<RunStateEvent> m_states;
    const std::chrono::steady_clock::time_point m_began = std::chrono::steady_clock::now();

    mutable std::mutex m_mutex;
    std::condition_variable_any m_changed;
    RunState m_wanted = RunState::Running;
    RunState m_state = RunState::Queued;
    bool m_ended = false; ///< The history is committed as well.
    RunProgress m_progress;
    std::vector<RunEvent> m_events;
    std::map<std::string, double> m_final;
    std::string m_message;
    std::string m_hint;
    std::jthread m_thread;
};

} // namespace mantissa::test
