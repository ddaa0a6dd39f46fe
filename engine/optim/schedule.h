#pragma once

#include "engine/recipe/run_plan.h"

#include <cstdint>

namespace mantissa {

/// The learning rate over a run. Advanced by the trainer, after a step or after an epoch.
class Schedule {
public:
    Schedule(const SchedulePlan& plan, double baseRate);

    double rate() const { return m_rate; } ///< Of the coming step.
    std::int64_t advances() const { return m_advances; }
    void advance();
    void restore(std::int64_t advances, double rate);

private:
    double warmupCosine() const;

    SchedulePlan m_plan;
    double m_baseRate;
    double m_rate = 0.0;
    std::int64_t m_advances = 0;
};

} // namespace mantissa
