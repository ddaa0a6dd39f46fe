#include "app/interrupt_watch.h"

#include <array>
#include <csignal>
#include <pthread.h>
#include <sys/signalfd.h>
#include <unistd.h>

namespace mantissa {
namespace {

constexpr std::array kWatched = {SIGINT, SIGTERM, SIGHUP};

/// Programs that are started from here, a file manager for one, must still be ended as any other.
void letThroughInChild()
{
    sigset_t signals;
    sigemptyset(&signals);
    for (const int number : kWatched)
        sigaddset(&signals, number);
    pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);
}

} // namespace

InterruptWatch::InterruptWatch()
{
    sigset_t signals;
    sigemptyset(&signals);
    for (const int number : kWatched) {
        struct sigaction before = {};
        if (sigaction(number, nullptr, &before) != 0 || before.sa_handler != SIG_IGN)
            sigaddset(&signals, number);
    }
    (void)std::signal(SIGPIPE, SIG_IGN);
    pthread_sigmask(SIG_BLOCK, &signals, nullptr);
    pthread_atfork(nullptr, nullptr, letThroughInChild);
    m_descriptor = signalfd(-1, &signals, SFD_NONBLOCK | SFD_CLOEXEC);
}

InterruptWatch::~InterruptWatch()
{
    if (m_descriptor >= 0)
        close(m_descriptor);
}

std::optional<int> InterruptWatch::take()
{
    signalfd_siginfo signal = {};
    if (m_descriptor < 0 || read(m_descriptor, &signal, sizeof signal) != sizeof signal)
        return std::nullopt;
    return static_cast<int>(signal.ssi_signo);
}

} // namespace mantissa
