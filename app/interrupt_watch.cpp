#include "app/interrupt_watch.h"

#include <csignal>
#include <initializer_list>
#include <sys/signalfd.h>
#include <unistd.h>

namespace mantissa {

InterruptWatch::InterruptWatch()
{
    sigset_t signals;
    sigemptyset(&signals);
    for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
        struct sigaction before = {};
        if (sigaction(number, nullptr, &before) != 0 || before.sa_handler != SIG_IGN)
            sigaddset(&signals, number);
    }
    (void)std::signal(SIGPIPE, SIG_IGN);
    pthread_sigmask(SIG_BLOCK, &signals, nullptr);
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
