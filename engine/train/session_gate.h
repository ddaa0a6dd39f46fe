#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <limits>
#include <mutex>

namespace mantissa {

/// Where ranks ask before each step whether to go on. Commands come from any thread. All ranks pause and stop
/// before the same step: a command takes effect after the last step that any rank has begun, so nobody waits
/// for a rank that stayed behind.
class SessionGate {
public:
    enum class Way { On, Stop, GiveUp };

    /// `paused` is called when every rank waits (true) and when they go on (false), in that order, with the
    /// gate locked: it must not come back to the gate.
    SessionGate(int ranks, std::function<void(bool)> paused) : m_ranks(ranks), m_paused(std::move(paused)) {}

    Way arrive(std::int64_t step); ///< Waits while the run is paused.

    void pause();
    void resume();
    void stop();
    void giveUp(); ///< A rank has failed: the others end without another step.

private:
    static constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

    void await(std::unique_lock<std::mutex>& lock, std::int64_t step);

    const int m_ranks;
    const std::function<void(bool)> m_paused;
    std::mutex m_mutex;
    std::condition_variable m_changed;
    std::int64_t m_begun = -1; ///< The last step that some rank was let into.
    std::int64_t m_stopAt = kNever;
    std::int64_t m_pauseAt = kNever;
    int m_waiting = 0;
    bool m_saidPaused = false;
    bool m_givenUp = false;
};

} // namespace mantissa
