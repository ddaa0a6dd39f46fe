#include "engine/optim/line_search.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace mantissa {
namespace {

constexpr double kEnoughLess = 1e-4; // Of the decrease that the slope promises.
constexpr double kFlatEnough = 0.9; // Of the slope at the start.

/// Where the cubic through two points with their slopes is least, within bounds.
double cubicMinimum(const LinePoint& a, const LinePoint& b, double least, double most)
{
    const double mean = a.slope + b.slope - 3.0 * (a.loss - b.loss) / (a.length - b.length);
    const double square = mean * mean - a.slope * b.slope;
    if (!(square >= 0.0))
        return (least + most) / 2.0;
    const double root = std::sqrt(square);
    const LinePoint& left = a.length <= b.length ? a : b;
    const LinePoint& right = a.length <= b.length ? b : a;
    const double at = right.length
        - (right.length - left.length)
            * ((right.slope + root - mean) / (right.slope - left.slope + 2.0 * root));
    return std::min(std::max(at, least), most);
}

class Search {
public:
    Search(const LinePoint& start, const LineSearchPlan& plan,
           const std::function<LinePoint(double)>& evaluate)
        : m_start(start), m_plan(plan), m_evaluate(evaluate)
    {
    }

    LineSearchReport run(double firstLength)
    {
        const bool done = bracket(firstLength);
        if (!done)
            zoom();
        return {m_low, m_evaluations};
    }

private:
    LinePoint measure(double length)
    {
        ++m_evaluations;
        return m_evaluate(length);
    }
    bool isTooHigh(const LinePoint& point) const
    {
        return point.loss > m_start.loss + kEnoughLess * point.length * m_start.slope;
    }
    bool isFlat(const LinePoint& point) const
    {
        return std::abs(point.slope) <= -kFlatEnough * m_start.slope;
    }
    void keep(LinePoint a, LinePoint b)
    {
        m_low = a.loss <= b.loss ? a : b;
        m_high = a.loss <= b.loss ? std::move(b) : std::move(a);
    }

    /// Goes on until the minimum is between two points; true where it met one that will do.
    bool bracket(double firstLength)
    {
        LinePoint before = m_start;
        LinePoint point = measure(firstLength);
        for (; m_iterations < m_plan.maxEvaluations; ++m_iterations) {
            const bool rises = m_iterations > 1 && point.loss >= before.loss;
            if (isTooHigh(point) || rises || (!isFlat(point) && point.slope >= 0.0)) {
                keep(before, point);
                return false;
            }
            if (isFlat(point)) {
                m_low = point;
                return true;
            }
            const double least = point.length + 0.01 * (point.length - before.length);
            const double next = cubicMinimum(before, point, least, point.length * 10.0);
            before = std::exchange(point, measure(next));
        }
        keep(m_start, point);
        return false;
    }

    double nextLength()
    {
        const double left = std::min(m_low.length, m_high.length);
        const double right = std::max(m_low.length, m_high.length);
        double length = cubicMinimum(m_low, m_high, left, right);
        const double margin = 0.1 * (right - left);
        const bool atTheEdge = std::min(right - length, length - left) < margin;
        // Twice in a row at an edge, the cubic leads nowhere: a tenth further in.
        if (atTheEdge && (m_wasAtTheEdge || length >= right || length <= left)) {
            length = std::abs(length - right) < std::abs(length - left) ? right - margin : left + margin;
            m_wasAtTheEdge = false;
        } else {
            m_wasAtTheEdge = atTheEdge;
        }
        return length;
    }

    void zoom()
    {
        for (; m_iterations < m_plan.maxEvaluations; ++m_iterations) {
            if (std::abs(m_high.length - m_low.length) * m_plan.directionSize < m_plan.toleranceChange)
                return;
            const LinePoint point = measure(nextLength());
            if (isTooHigh(point) || point.loss >= m_low.loss) {
                keep(m_low, point);
                continue;
            }
            const bool done = isFlat(point);
            if (!done && point.slope * (m_high.length - m_low.length) >= 0.0)
                m_high = m_low;
            m_low = point;
            if (done)
                return;
        }
    }

    const LinePoint& m_start;
    const LineSearchPlan& m_plan;
    const std::function<LinePoint(double)>& m_evaluate;
    LinePoint m_low;
    LinePoint m_high;
    std::int64_t m_evaluations = 0;
    std::int64_t m_iterations = 0;
    bool m_wasAtTheEdge = false;
};

} // namespace

LineSearchReport searchLine(const LinePoint& start, double firstLength, const LineSearchPlan& plan,
                            const std::function<LinePoint(double)>& evaluate)
{
    return Search(start, plan, evaluate).run(firstLength);
}

} // namespace mantissa
