#pragma once

#include "engine/recipe/run_plan.h"

#include <cstdint>
#include <optional>
#include <string>

namespace mantissa {

/// The learning rate over a run, and the momentum where a cycle moves it. Advanced by the trainer, after a
/// step or after an epoch. Follows PyTorch's classes of the same names, roundings included: most of them work
/// from the last rate.
class Schedule {
public:
    Schedule(const SchedulePlan& plan, double baseRate);

    double rate() const { return m_rate; } ///< Of the coming step.
    std::optional<double> momentum() const { return m_momentum; } ///< Of the coming step, where it moves.
    std::int64_t advances() const { return m_advances; }
    /// A value of what a plateau watches; it looks at the mean of all that came since the last advance.
    void observe(double watched);
    void advance(); ///< Throws where a cycle is over.
    void restore(std::int64_t advances, double rate);

    std::string stateDict() const; ///< JSON.
    void loadStateDict(const std::string& json); ///< Throws where it is not what stateDict() writes.

private:
    void start();
    double next();
    double warmupCosine() const;
    double linear() const;
    double cosine() const;
    void cycle();
    double plateau();
    bool isBetter(double watched) const;

    SchedulePlan m_plan;
    double m_baseRate;
    double m_rate = 0.0;
    std::optional<double> m_momentum;
    std::int64_t m_advances = 0;
    double m_best = 0.0; ///< Plateau, like all that follow.
    std::int64_t m_badAdvances = 0;
    std::int64_t m_cooldown = 0;
    double m_observedSum = 0.0;
    std::int64_t m_observed = 0;
};

} // namespace mantissa
