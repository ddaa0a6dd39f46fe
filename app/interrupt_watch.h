#pragma once

#include <optional>

namespace mantissa {

/// Takes Ctrl+C, the request to terminate and the loss of the terminal out of every thread that starts after
/// it, so that they can be asked for; a reader of the output that goes away does not end the process. What
/// was ignored when the process began, as by nohup, stays ignored.
class InterruptWatch {
public:
    InterruptWatch();
    ~InterruptWatch();
    InterruptWatch(const InterruptWatch&) = delete;
    InterruptWatch& operator=(const InterruptWatch&) = delete;

    /// The signal that has come since the last call. Never waits.
    std::optional<int> take();
    /// Can be read where one has come.
    int descriptor() const { return m_descriptor; }

private:
    int m_descriptor = -1;
};

} // namespace mantissa
