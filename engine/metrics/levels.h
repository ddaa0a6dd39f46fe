#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace mantissa {

/// Points that stand next to each other in a series, as one column of pixels shows them: nothing between the
/// extremes is lost. A column with points but no finite one has `finite == 0` and NaN extremes.
struct LevelBucket {
    double firstX = 0.0;
    double lastX = 0.0;
    double min = std::numeric_limits<double>::quiet_NaN(); ///< Over finite values.
    double max = std::numeric_limits<double>::quiet_NaN();
    double first = std::numeric_limits<double>::quiet_NaN(); ///< The first finite value, and the last.
    double last = std::numeric_limits<double>::quiet_NaN();
    double mean = std::numeric_limits<double>::quiet_NaN(); ///< Over finite values.
    std::uint32_t finite = 0;
    std::uint32_t nonFinite = 0;
    bool operator==(const LevelBucket&) const = default;
};

/// A value that no curve can show, with its place in the series.
struct NonFinitePoint {
    std::int64_t step = 0;
    double x = 0.0;
    double value = 0.0; ///< NaN or an infinity.
};

/// What an axis needs to know of a stretch of a series.
struct LevelExtent {
    double min = std::numeric_limits<double>::quiet_NaN(); ///< NaN where no value is finite.
    double max = std::numeric_limits<double>::quiet_NaN();
    double minPositive = std::numeric_limits<double>::quiet_NaN(); ///< For logarithmic axes.
};

/// A series with its minima and maxima on several levels, so that a plot of any width costs its width and not
/// the number of points. Grows at the end; `x` (a step or a time) never goes back. Not thread-safe: a value
/// of whoever draws.
class SeriesLevels {
public:
    void append(std::int64_t step, double x, double value);
    void append(std::int64_t step, double value) { append(step, static_cast<double>(step), value); }
    void clear();

    std::size_t size() const { return m_values.size(); }
    std::int64_t step(std::size_t index) const { return m_steps[index]; }
    double x(std::size_t index) const { return m_x[index]; }
    double value(std::size_t index) const { return m_values[index]; }
    /// The point nearest to `x`; size() where there is none.
    std::size_t nearest(double x) const;

    const std::vector<NonFinitePoint>& nonFinite() const { return m_nonFinite; }
    LevelExtent extent() const { return m_extent; }
    /// The extent of what lies between two places.
    LevelExtent extent(double fromX, double toX) const;

    /// At most about two buckets a pixel for the points from `fromX` to `toX`, plus one point on each side so
    /// that lines reach the edge. Where points are fewer than that, each has a bucket of its own.
    std::vector<LevelBucket> query(double fromX, double toX, int pixels) const;

private:
    struct Node {
        double min = std::numeric_limits<double>::quiet_NaN();
        double max = std::numeric_limits<double>::quiet_NaN();
        double minPositive = std::numeric_limits<double>::quiet_NaN();
        double first = std::numeric_limits<double>::quiet_NaN();
        double last = std::numeric_limits<double>::quiet_NaN();
        double sum = 0.0;
        std::uint32_t nonFinite = 0;
    };
    static Node leaf(double value);
    static void join(Node& into, const Node& next);
    Node joined(std::size_t from, std::size_t to) const;
    LevelBucket bucket(std::size_t from, std::size_t to) const;

    std::vector<std::int64_t> m_steps;
    std::vector<double> m_x;
    std::vector<double> m_values;
    std::vector<std::vector<Node>>
        m_levels; ///< m_levels[k] holds nodes of 16^(k+1) points; the last may be unfinished.
    std::vector<NonFinitePoint> m_nonFinite;
    LevelExtent m_extent;
};

} // namespace mantissa
