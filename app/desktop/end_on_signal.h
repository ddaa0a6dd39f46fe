#pragma once

#include "app/interrupt_watch.h"

#include <QObject>
#include <QSocketNotifier>

#include <functional>

namespace mantissa {

/// Ends the window as Ctrl+C ends the command line: the first signal asks it to, which stops a run with its
/// checkpoint; a second one ends the process at once.
class EndOnSignal : public QObject {
public:
    /// `end` closes everything and leaves with that exit code.
    EndOnSignal(InterruptWatch& watch, std::function<void(int exitCode)> end);

private:
    void take();

    InterruptWatch& m_watch;
    std::function<void(int)> m_end;
    QSocketNotifier m_notifier;
    bool m_asked = false;
};

} // namespace mantissa
