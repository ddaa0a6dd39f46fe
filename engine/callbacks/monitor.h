#pragma once

#include "engine/recipe/callback_plan.h"

#include <limits>

namespace mantissa {

inline bool isBetter(MonitorMode mode, double value, double than)
{
    return mode == MonitorMode::Min ? value < than : value > than;
}

/// What every value is better than.
inline double worstOf(MonitorMode mode)
{
    return mode == MonitorMode::Min ? std::numeric_limits<double>::infinity()
                                    : -std::numeric_limits<double>::infinity();
}

} // namespace mantissa
