#include "engine/numerics/delayed_scale.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace mantissa {

DelayedScale::DelayedScale(const NumberFormat& format, const DelayedScaleRule& rule)
    : m_largest(std::ldexp(static_cast<float>(format.largest()), -static_cast<int>(rule.margin))),
      m_length(static_cast<std::size_t>(rule.historyLength))
{
}

void DelayedScale::see(float largest)
{
    // In a maximum NaN would be lost; Inf is not.
    m_seen = std::max(m_seen, std::isnan(largest) ? std::numeric_limits<float>::infinity() : largest);
}

void DelayedScale::close(float seen)
{
    m_seen = -1.0F;
    if (seen < 0.0F || !std::isfinite(seen))
        return;
    m_history.push_back(seen);
    if (m_history.size() > m_length)
        m_history.erase(m_history.begin());
    const float largest = *std::max_element(m_history.begin(), m_history.end());
    if (largest > 0.0F)
        m_scale = std::min(m_largest / largest, std::numeric_limits<float>::max());
}

void DelayedScale::restore(float scale, std::vector<float> history)
{
    if (history.size() > m_length)
        history.erase(history.begin(), history.end() - static_cast<std::ptrdiff_t>(m_length));
    m_scale = scale;
    m_history = std::move(history);
}

} // namespace mantissa
