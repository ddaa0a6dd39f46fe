#include "engine/optim/one_cycle.h"

#include <cmath>
#include <numbers>
#include <vector>

namespace mantissa {
namespace {

double annealed(const OneCyclePlan& plan, double from, double to, double share)
{
    if (plan.linear)
        return (to - from) * share + from;
    return to + (from - to) / 2.0 * (std::cos(std::numbers::pi * share) + 1.0);
}

/// Each phase goes from the target of the one before to its own.
double valueAt(const OneCyclePlan& plan, double from, const std::vector<double>& targets,
               std::int64_t advances)
{
    const auto at = static_cast<double>(advances);
    const auto ends = plan.phaseEnds();
    double begin = 0.0;
    for (std::size_t i = 0; i < ends.size(); ++i) {
        if (at <= ends[i] || i + 1 == ends.size()) // Past the end the last phase goes on.
            return annealed(plan, from, targets[i], (at - begin) / (ends[i] - begin));
        begin = ends[i];
        from = targets[i];
    }
    return from;
}

std::vector<double> targetsOf(const OneCyclePlan& plan, double up, double back, double last)
{
    return plan.threePhase ? std::vector<double>{up, back, last} : std::vector<double>{up, last};
}

} // namespace

double cycledRate(const OneCyclePlan& plan, std::int64_t advances)
{
    const double first = plan.maxRate / plan.divFactor;
    return valueAt(plan, first, targetsOf(plan, plan.maxRate, first, first / plan.finalDivFactor), advances);
}

double cycledMomentum(const OneCyclePlan& plan, std::int64_t advances)
{
    return valueAt(plan, plan.maxMomentum,
                   targetsOf(plan, plan.baseMomentum, plan.maxMomentum, plan.maxMomentum), advances);
}

} // namespace mantissa
