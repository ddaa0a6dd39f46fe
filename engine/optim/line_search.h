#pragma once

#include "engine/tensor/torch.h"

#include <cstdint>
#include <functional>

namespace mantissa {

/// Loss and gradient at one length along a direction, and the slope there.
struct LinePoint {
    double length = 0.0;
    double loss = 0.0;
    at::Tensor gradient;
    double slope = 0.0;
};

struct LineSearchPlan {
    double toleranceChange = 1e-9;
    double directionSize = 1.0; ///< Largest element of the direction.
    std::int64_t maxEvaluations = 25;
};

struct LineSearchReport {
    LinePoint found;
    std::int64_t evaluations = 0;
};

/// A length that meets the strong Wolfe conditions (Nocedal and Wright, algorithms 3.5 and 3.6), or the best
/// that was seen. `start` is the point at length 0, `evaluate` measures at any other.
LineSearchReport searchLine(const LinePoint& start, double firstLength, const LineSearchPlan& plan,
                            const std::function<LinePoint(double)>& evaluate);

} // namespace mantissa
