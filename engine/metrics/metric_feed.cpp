#include "engine/metrics/metric_feed.h"

namespace mantissa {

void MetricFeed::push(const Sample& sample)
{
    const std::scoped_lock lock(m_mutex);
    keep(sample);
}

void MetricFeed::push(const std::vector<Sample>& samples)
{
    const std::scoped_lock lock(m_mutex);
    for (const auto& sample : samples)
        keep(sample);
}

std::vector<Sample> MetricFeed::drain()
{
    std::deque<Sample> taken;
    {
        const std::scoped_lock lock(m_mutex);
        taken.swap(m_pending);
    }
    return {taken.begin(), taken.end()};
}

std::uint64_t MetricFeed::droppedCount() const
{
    const std::scoped_lock lock(m_mutex);
    return m_dropped;
}

void MetricFeed::keep(const Sample& sample)
{
    if (m_pending.size() == m_capacity) {
        m_pending.pop_front();
        ++m_dropped;
    }
    m_pending.push_back(sample);
}

} // namespace mantissa
