#include "engine/train/session_gate.h"

#include <algorithm>
#include <utility>

namespace mantissa {

SessionGate::Way SessionGate::arrive(std::int64_t step)
{
    std::unique_lock lock(m_mutex);
    if (step >= m_pauseAt && step < m_stopAt && !m_givenUp)
        await(lock, step);
    if (m_givenUp)
        return Way::GiveUp;
    if (step >= m_stopAt)
        return Way::Stop;
    m_begun = std::max(m_begun, step);
    return Way::On;
}

void SessionGate::await(std::unique_lock<std::mutex>& lock, std::int64_t step)
{
    if (++m_waiting == m_ranks) {
        m_saidPaused = true;
        m_paused(true);
    }
    m_changed.wait(lock, [&] { return step < m_pauseAt || step >= m_stopAt || m_givenUp; });
    --m_waiting;
    const bool goesOn = step < m_stopAt && !m_givenUp;
    if (std::exchange(m_saidPaused, false) && goesOn)
        m_paused(false);
}

void SessionGate::pause()
{
    const std::scoped_lock lock(m_mutex);
    m_pauseAt = std::min(m_pauseAt, m_begun + 1);
}

void SessionGate::resume()
{
    const std::scoped_lock lock(m_mutex);
    m_pauseAt = kNever;
    m_changed.notify_all();
}

void SessionGate::stop()
{
    const std::scoped_lock lock(m_mutex);
    m_stopAt = std::min(m_stopAt, m_begun + 1);
    m_changed.notify_all();
}

void SessionGate::giveUp()
{
    const std::scoped_lock lock(m_mutex);
    m_givenUp = true;
    m_changed.notify_all();
}

} // namespace mantissa
