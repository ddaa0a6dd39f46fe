#include "tests/support/scripted_run.h"

#include <algorithm>
#include <fstream>

namespace mantissa::test {

ScriptedRun::ScriptedRun(RunScript script, std::unique_ptr<RunWriter> writer)
    : m_script(std::move(script)), m_writer(std::move(writer))
{
    m_progress.total = m_script.steps;
    m_thread = std::jthread([this](const std::stop_token& stop) { play(stop); });
}

ScriptedRun::~ScriptedRun()
{
    ask(RunState::Stopped);
    m_thread.request_stop();
    m_thread.join();
}

std::vector<RunEvent> ScriptedRun::takeEvents()
{
    const std::scoped_lock lock(m_mutex);
    return std::exchange(m_events, {});
}

RunState ScriptedRun::state() const
{
    const std::scoped_lock lock(m_mutex);
    return m_state;
}

RunProgress ScriptedRun::progress() const
{
    const std::scoped_lock lock(m_mutex);
    return m_progress;
}

bool ScriptedRun::wait(std::chrono::milliseconds atMost)
{
    std::unique_lock lock(m_mutex);
    return m_changed.wait_for(lock, atMost, [this] { return m_ended; });
}

RunSummary ScriptedRun::summary() const
{
    const std::scoped_lock lock(m_mutex);
    return {m_writer->id(), m_writer->folder(), m_state, m_progress.step, m_progress.skipped,
            m_final,        m_message,          m_hint};
}

void ScriptedRun::ask(RunState wanted)
{
    {
        const std::scoped_lock lock(m_mutex);
        if (m_wanted == RunState::Stopped)
            return;
        m_wanted = wanted;
    }
    m_changed.notify_all();
}

void ScriptedRun::play(const std::stop_token& stop)
{
    enter(RunState::Running);
    std::int64_t step = 0;
    for (; step < m_script.steps && mayGoOn(stop); ++step) {
        if (m_script.failAt == step) {
            tell({step, 0.0, "failure", "backward", 1, {}, m_script.failure, {}});
            break;
        }
        playStep(step);
    }
    end(step);
}

bool ScriptedRun::mayGoOn(const std::stop_token& stop)
{
    std::unique_lock lock(m_mutex);
    const auto asked = [this] { return m_wanted == RunState::Stopped && !m_script.ignoresStop; };
    m_changed.wait_for(lock, stop, m_script.perStep, asked);
    if (m_wanted == RunState::Paused) {
        lock.unlock();
        enter(RunState::Paused);
        lock.lock();
        m_changed.wait(lock, stop, [this] { return m_wanted != RunState::Paused; });
        const bool goesOn = m_wanted == RunState::Running;
        lock.unlock();
        if (goesOn)
            enter(RunState::Running);
        lock.lock();
    }
    return !asked() && !stop.stop_requested();
}

void ScriptedRun::playStep(std::int64_t step)
{
    auto samples = m_script.samples ? m_script.samples(step) : scriptedSamples(m_script, step);
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - m_began;
    for (auto& sample : samples)
        sample.time = time.count();
    m_feed.push(samples);
    m_writer->append(samples);
    const bool skipped =
        std::find(m_script.skips.begin(), m_script.skips.end(), step) != m_script.skips.end();
    if (skipped)
        tell({step,
              time.count(),
              "skipped",
              "optimizer",
              -1,
              {},
              "Step " + std::to_string(step) + " was skipped: rank 1 had an Inf.",
              {}});
    for (auto event : m_script.events) {
        event.time = time.count();
        if (event.step == step)
            tell(event);
    }
    const auto health = m_writer->health();
    const std::scoped_lock lock(m_mutex);
    m_progress.historyTrouble = health ? std::string() : health.error().message;
    m_progress.lostPoints = m_writer->lostCount();
    m_progress.step = step + 1;
    m_progress.skipped += skipped ? 1 : 0;
    m_progress.secondsLeft =
        time.count() / static_cast<double>(step + 1) * static_cast<double>(m_script.steps - step - 1);
    for (const auto& sample : samples) {
        const auto& spec = m_script.series[static_cast<std::size_t>(sample.series)];
        if (spec.rank < 0)
            m_final[spec.name] = sample.value;
    }
}

void ScriptedRun::tell(const RunEvent& event)
{
    m_writer->append(event);
    const std::scoped_lock lock(m_mutex);
    m_events.push_back(event);
}

void ScriptedRun::enter(RunState state, const std::string& message, const std::string& hint)
{
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

void ScriptedRun::end(std::int64_t done)
{
    const bool failed = m_script.failAt == done && done < m_script.steps;
    const auto state = failed   ? RunState::Failed
        : done < m_script.steps ? RunState::Stopped
                                : RunState::Finished;
    if (!failed)
        writeCheckpoint(done - 1);
    const auto finished = m_writer->finish(state, done - 1);
    if (failed)
        enter(state, m_script.failure, m_script.failureHint);
    else
        enter(state, finished ? std::string() : finished.error().message);
    {
        const std::scoped_lock lock(m_mutex);
        m_ended = true;
    }
    m_changed.notify_all();
}

void ScriptedRun::writeCheckpoint(std::int64_t step)
{
    const std::string path = "checkpoints/step-" + std::to_string(step) + ".safetensors";
    std::ofstream(m_writer->folder() / path) << std::string("\2\0\0\0\0\0\0\0{}", 10);
    m_writer->append(CheckpointRecord{step, path, 10, {}, true});
    tell({step, 0.0, "checkpoint", "record", -1, {}, "A checkpoint was written: " + path, {}});
}

} // namespace mantissa::test
