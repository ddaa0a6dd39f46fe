#include "engine/optim/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace mantissa {

Schedule::Schedule(const SchedulePlan& plan, double baseRate)
    : m_plan(plan), m_baseRate(baseRate), m_rate(baseRate)
{
    if (m_plan.kind == ScheduleKind::WarmupCosine)
        m_rate = warmupCosine();
}

double Schedule::warmupCosine() const
{
    const auto at = static_cast<double>(m_advances);
    const auto warmup = static_cast<double>(m_plan.warmup);
    if (m_advances < m_plan.warmup)
        return m_baseRate * ((at + 1.0) / warmup);
    const double length = static_cast<double>(std::max<std::int64_t>(m_plan.total - m_plan.warmup, 1));
    const double progress = std::min(1.0, (at - warmup) / length);
    const double ratio = m_plan.minRatio;
    return m_baseRate * (ratio + (1.0 - ratio) * 0.5 * (1.0 + std::cos(std::numbers::pi * progress)));
}

void Schedule::advance()
{
    ++m_advances;
    if (m_plan.kind == ScheduleKind::WarmupCosine)
        m_rate = warmupCosine();
    else if (m_plan.kind == ScheduleKind::Step
             && m_advances % std::max<std::int64_t>(m_plan.stepSize, 1) == 0)
        m_rate *= m_plan.gamma; // From the last rate, not from the base: rounding adds up as in PyTorch.
}

void Schedule::restore(std::int64_t advances, double rate)
{
    m_advances = advances;
    m_rate = rate;
}

} // namespace mantissa
