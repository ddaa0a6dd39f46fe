#include "engine/optim/one_cycle.h"

#include <cmath>
#include <numbers>
#include <vector>

namespace mantissa {
namespace {

/// A stretch of the cycle, from the end of the one before to its own, and what it leads to.
struct Phase {
    double end = 0.0;
    double target = 0.0;
};

double annealed(const OneCyclePlan& plan, double from, double to, double share)
{
    if (plan.linear)
        return (to - from) * share + from;
    return to + (from - to) / 2.0 * (std::cos(std::numbers::pi * share) + 1.0);
}

double valueAt(const OneCyclePlan& plan, double from, const std::vector<Phase>& phases, std::int64_t advances)
{
    const auto at = static_cast<double>(advances);
    double begin = 0.0;
    for (const auto& phase : phases) {
        if (at <= phase.end || &phase == &phases.back()) // Past the end the last phase goes on.
            return annealed(plan, from, phase.target, (at - begin) / (phase.end - begin));
        begin = phase.end;
        from = phase.target;
    }
    return from;
}

std::vector<Phase> phasesOf(const OneCyclePlan& plan, double up, double back, double last)
{
    const auto total = static_cast<double>(plan.totalSteps);
    const double rise = plan.upShare * total - 1.0;
    if (plan.threePhase)
        return {{rise, up}, {2.0 * plan.upShare * total - 2.0, back}, {total - 1.0, last}};
    return {{rise, up}, {total - 1.0, last}};
}

} // namespace

double cycledRate(const OneCyclePlan& plan, std::int64_t advances)
{
    const double first = plan.maxRate / plan.divFactor;
    return valueAt(plan, first, phasesOf(plan, plan.maxRate, first, first / plan.finalDivFactor), advances);
}

double cycledMomentum(const OneCyclePlan& plan, std::int64_t advances)
{
    return valueAt(plan, plan.maxMomentum,
                   phasesOf(plan, plan.baseMomentum, plan.maxMomentum, plan.maxMomentum), advances);
}

} // namespace mantissa
