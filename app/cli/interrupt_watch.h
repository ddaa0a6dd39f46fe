#pragma once

namespace mantissa::cli {

/// Takes Ctrl+C and the request to terminate out of every thread that starts after it, so that they can be
/// asked for.
class InterruptWatch {
public:
    InterruptWatch();
    ~InterruptWatch();
    InterruptWatch(const InterruptWatch&) = delete;
    InterruptWatch& operator=(const InterruptWatch&) = delete;

    /// Whether one has come since the last call. Never waits.
    bool take();

private:
    int m_descriptor = -1;
};

} // namespace mantissa::cli
