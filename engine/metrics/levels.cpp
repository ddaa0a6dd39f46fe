#include "engine/metrics/levels.h"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace mantissa {
namespace {

constexpr std::size_t kFan = 16;

} // namespace

SeriesLevels::Node SeriesLevels::leaf(double value)
{
    Node node;
    if (!std::isfinite(value)) {
        node.nonFinite = 1;
        return node;
    }
    node.min = node.max = node.first = node.last = node.sum = value;
    if (value > 0.0)
        node.minPositive = value;
    return node;
}

// fmin and fmax prefer a number to a NaN, which is what "over finite values" means here.
void SeriesLevels::join(Node& into, const Node& next)
{
    into.min = std::fmin(into.min, next.min);
    into.max = std::fmax(into.max, next.max);
    into.minPositive = std::fmin(into.minPositive, next.minPositive);
    if (std::isnan(into.first))
        into.first = next.first;
    if (!std::isnan(next.last))
        into.last = next.last;
    into.sum += next.sum;
    into.nonFinite += next.nonFinite;
}

void SeriesLevels::append(std::int64_t step, double x, double value)
{
    assert(m_x.empty() || x >= m_x.back());
    const std::size_t index = m_values.size();
    m_steps.push_back(step);
    m_x.push_back(x);
    m_values.push_back(value);
    const Node node = leaf(value);
    if (node.nonFinite != 0)
        m_nonFinite.push_back({step, x, value});
    m_extent.min = std::fmin(m_extent.min, node.min);
    m_extent.max = std::fmax(m_extent.max, node.max);
    m_extent.minPositive = std::fmin(m_extent.minPositive, node.minPositive);
    std::size_t width = kFan;
    for (std::size_t level = 0; level == 0 || index >= width / kFan; ++level, width *= kFan) {
        if (level == m_levels.size()) {
            m_levels.emplace_back();
            if (level > 0) { // A new top level starts as the sum of what lies below it, without the point
                             // being added.
                Node sum;
                for (std::size_t i = 0; i < index; ++i)
                    join(sum, leaf(m_values[i]));
                m_levels[level].push_back(sum);
            }
        }
        auto& nodes = m_levels[level];
        if (index / width == nodes.size())
            nodes.push_back(node);
        else
            join(nodes.back(), node);
    }
}

void SeriesLevels::clear()
{
    *this = SeriesLevels();
}

std::size_t SeriesLevels::nearest(double x) const
{
    if (m_x.empty())
        return 0;
    const auto after = std::lower_bound(m_x.begin(), m_x.end(), x);
    const auto index = static_cast<std::size_t>(after - m_x.begin());
    if (index == m_x.size())
        return index - 1;
    return index > 0 && x - m_x[index - 1] <= m_x[index] - x ? index - 1 : index;
}

/// The points [from, to), made of the widest nodes that fit.
SeriesLevels::Node SeriesLevels::joined(std::size_t from, std::size_t to) const
{
    Node sum;
    while (from < to) {
        std::size_t width = 1;
        std::size_t level = 0;
        while (level < m_levels.size() && from % (width * kFan) == 0 && from + width * kFan <= to) {
            width *= kFan;
            ++level;
        }
        join(sum, level == 0 ? leaf(m_values[from]) : m_levels[level - 1][from / width]);
        from += width;
    }
    return sum;
}

LevelBucket SeriesLevels::bucket(std::size_t from, std::size_t to) const
{
    const Node node = joined(from, to);
    const auto count = static_cast<std::uint32_t>(to - from);
    const auto finite = count - node.nonFinite;
    const double mean = finite == 0 ? std::numeric_limits<double>::quiet_NaN() : node.sum / finite;
    return {m_x[from], m_x[to - 1], node.min, node.max, node.first, node.last, mean, finite, node.nonFinite};
}

LevelExtent SeriesLevels::extent(double fromX, double toX) const
{
    const auto first = std::lower_bound(m_x.begin(), m_x.end(), fromX) - m_x.begin();
    const auto last = std::upper_bound(m_x.begin(), m_x.end(), toX) - m_x.begin();
    if (first >= last)
        return {};
    const Node node = joined(static_cast<std::size_t>(first), static_cast<std::size_t>(last));
    return {node.min, node.max, node.minPositive};
}

std::vector<LevelBucket> SeriesLevels::query(double fromX, double toX, int pixels) const
{
    const auto begin = std::lower_bound(m_x.begin(), m_x.end(), fromX) - m_x.begin();
    const auto end = std::upper_bound(m_x.begin(), m_x.end(), toX) - m_x.begin();
    const auto first = static_cast<std::size_t>(std::max<std::ptrdiff_t>(begin - 1, 0));
    const std::size_t last = std::min(static_cast<std::size_t>(end) + 1, m_x.size());
    if (first >= last)
        return {};
    const std::size_t most = 2 * static_cast<std::size_t>(std::max(pixels, 1));
    // Powers of two, aligned to the start of the series: the picture does not shimmer while points arrive or
    // the view moves.
    std::size_t width = 1;
    while ((last - first) / width > most)
        width *= 2;
    std::vector<LevelBucket> buckets;
    buckets.reserve((last - first) / width + 2);
    for (std::size_t from = first; from < last;) {
        const std::size_t to = std::min((from / width + 1) * width, last);
        buckets.push_back(bucket(from, to));
        from = to;
    }
    return buckets;
}

} // namespace mantissa
