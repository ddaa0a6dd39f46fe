#pragma once

#include "engine/metrics/sample.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <vector>

namespace mantissa {

/// Hands samples from the training thread to one reader. Never blocks training for longer
/// than a copy: when the reader falls behind, the oldest samples are dropped and counted.
class MetricFeed {
public:
    explicit MetricFeed(std::size_t capacity) : m_capacity(capacity) {}

    void push(const Sample& sample);
    void push(const std::vector<Sample>& samples); ///< All of one step under one lock.
    std::vector<Sample> drain();
    std::uint64_t droppedCount() const;

private:
    void keep(const Sample& sample);

    const std::size_t m_capacity;
    mutable std::mutex m_mutex;
    std::deque<Sample> m_pending;
    std::uint64_t m_dropped = 0;
};

} // namespace mantissa
