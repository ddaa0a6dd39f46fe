#include "engine/optim/schedule.h"

#include "engine/optim/one_cycle.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <stdexcept>

namespace mantissa {

Schedule::Schedule(const SchedulePlan& plan, double baseRate)
    : m_plan(plan), m_baseRate(baseRate), m_rate(baseRate)
{
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    m_best = m_plan.plateau.wantsLarge ? -kInfinity : kInfinity;
    start();
}

void Schedule::start()
{
    switch (m_plan.kind) {
    case ScheduleKind::WarmupCosine:
        m_rate = warmupCosine();
        break;
    case ScheduleKind::Linear:
        m_rate = m_baseRate * m_plan.startFactor;
        break;
    case ScheduleKind::MultiStep:
        m_rate *= std::pow(m_plan.gamma, std::count(m_plan.milestones.begin(), m_plan.milestones.end(), 0));
        break;
    case ScheduleKind::OneCycle:
        cycle();
        break;
    default:
        break;
    }
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

double Schedule::linear() const
{
    if (m_advances > m_plan.total)
        return m_rate;
    const double way = m_plan.endFactor - m_plan.startFactor;
    const auto before = static_cast<double>(m_advances - 1);
    return m_rate * (1.0 + way / (static_cast<double>(m_plan.total) * m_plan.startFactor + before * way));
}

double Schedule::cosine() const
{
    const std::int64_t half = m_plan.total;
    const auto length = static_cast<double>(half);
    const double least = m_plan.leastRate;
    if ((m_advances - 1 - half) % (2 * half) == 0) // At the bottom the quotient below would be 0 / 0.
        return m_rate + (m_baseRate - least) * (1.0 - std::cos(std::numbers::pi / length)) / 2.0;
    const auto wave = [&](std::int64_t at) {
        return 1.0 + std::cos(std::numbers::pi * static_cast<double>(at) / length);
    };
    return wave(m_advances) / wave(m_advances - 1) * (m_rate - least) + least;
}

void Schedule::cycle()
{
    m_rate = cycledRate(m_plan.oneCycle, m_advances);
    if (m_plan.movesMomentum())
        m_momentum = cycledMomentum(m_plan.oneCycle, m_advances);
}

bool Schedule::isBetter(double watched) const
{
    const auto& plateau = m_plan.plateau;
    if (plateau.absolute)
        return plateau.wantsLarge ? watched > m_best + plateau.threshold
                                  : watched < m_best - plateau.threshold;
    return plateau.wantsLarge ? watched > m_best * (1.0 + plateau.threshold)
                              : watched < m_best * (1.0 - plateau.threshold);
}

void Schedule::observe(double watched)
{
    m_observedSum += watched;
    ++m_observed;
}

double Schedule::plateau()
{
    const auto& plateau = m_plan.plateau;
    if (m_observed == 0)
        return m_rate;
    const double watched = m_observedSum / static_cast<double>(m_observed);
    m_observedSum = 0.0;
    m_observed = 0;
    if (isBetter(watched)) {
        m_best = watched;
        m_badAdvances = 0;
    } else {
        ++m_badAdvances;
    }
    if (m_cooldown > 0) {
        --m_cooldown;
        m_badAdvances = 0;
    }
    if (m_badAdvances <= plateau.patience)
        return m_rate;
    m_cooldown = plateau.cooldown;
    m_badAdvances = 0;
    const double lower = std::max(m_rate * plateau.factor, plateau.leastRate);
    return m_rate - lower > plateau.eps ? lower : m_rate;
}

double Schedule::next()
{
    switch (m_plan.kind) {
    case ScheduleKind::WarmupCosine:
        return warmupCosine();
    case ScheduleKind::Step:
        return m_advances % std::max<std::int64_t>(m_plan.stepSize, 1) == 0 ? m_rate * m_plan.gamma : m_rate;
    case ScheduleKind::MultiStep:
        return m_rate
            * std::pow(m_plan.gamma,
                       std::count(m_plan.milestones.begin(), m_plan.milestones.end(), m_advances));
    case ScheduleKind::Linear:
        return linear();
    case ScheduleKind::Exponential:
        return m_rate * m_plan.gamma;
    case ScheduleKind::Cosine:
        return cosine();
    case ScheduleKind::Plateau:
        return plateau();
    default:
        return m_rate;
    }
}

void Schedule::advance()
{
    ++m_advances;
    if (m_plan.kind == ScheduleKind::OneCycle && m_advances > m_plan.oneCycle.totalSteps)
        throw std::out_of_range("the cycle of OneCycleLR is " + std::to_string(m_plan.oneCycle.totalSteps)
                                + " steps long, and the run goes on");
    if (m_plan.kind == ScheduleKind::OneCycle)
        cycle();
    else
        m_rate = next();
}

void Schedule::restore(std::int64_t advances, double rate)
{
    m_advances = advances;
    m_rate = rate;
    if (m_plan.kind == ScheduleKind::OneCycle)
        cycle();
}

std::string Schedule::stateDict() const
{
    nlohmann::json json = {{"advances", m_advances}, {"rate", m_rate}};
    if (m_plan.kind == ScheduleKind::Plateau) {
        json["bad_advances"] = m_badAdvances;
        json["cooldown"] = m_cooldown;
        json["observed"] = m_observed;
        if (std::isfinite(m_observedSum))
            json["observed_sum"] = m_observedSum;
        if (std::isfinite(m_best)) // JSON has no infinity.
            json["best"] = m_best;
    }
    return json.dump();
}

void Schedule::loadStateDict(const std::string& text)
{
    const auto json = nlohmann::json::parse(text);
    restore(json.at("advances").get<std::int64_t>(), json.at("rate").get<double>());
    m_best = json.value("best", m_best);
    m_badAdvances = json.value("bad_advances", m_badAdvances);
    m_cooldown = json.value("cooldown", m_cooldown);
    m_observed = json.value("observed", m_observed);
    m_observedSum = json.value("observed_sum", m_observed > 0 ? std::nan("") : 0.0);
}

} // namespace mantissa
