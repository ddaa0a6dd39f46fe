#include "app/desktop/end_on_signal.h"

#include <chrono>
#include <cstdio>
#include <thread>
#include <unistd.h>
#include <utility>

namespace mantissa {
namespace {

constexpr int kBySignal = 128; ///< As a shell tells that a signal ended a program.

/// The history is committed by its own thread, at least once a second.
constexpr std::chrono::seconds kCommitTime{1};

} // namespace

EndOnSignal::EndOnSignal(InterruptWatch& watch, std::function<void(int exitCode)> end)
    : m_watch(watch), m_end(std::move(end)), m_notifier(watch.descriptor(), QSocketNotifier::Read)
{
    connect(&m_notifier, &QSocketNotifier::activated, this, &EndOnSignal::take);
}

void EndOnSignal::take()
{
    const auto signal = m_watch.take();
    if (!signal)
        return;
    const int exitCode = kBySignal + *signal;
    if (std::exchange(m_asked, true)) {
        std::this_thread::sleep_for(kCommitTime);
        _exit(exitCode);
    }
    std::fprintf(stderr,
                 "mantissa: closing; a run that goes on stops after this step, with a checkpoint. "
                 "Once more ends at once.\n");
    m_end(exitCode);
}

} // namespace mantissa
