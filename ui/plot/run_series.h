#pragma once

#include "engine/history/run_reader.h"
#include "engine/metrics/levels.h"
#include "engine/metrics/sample.h"

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

namespace mantissa::ui {

/// One series of a run, with its levels.
struct SeriesColumn {
    SeriesSpec spec;
    SeriesLevels levels;

    std::size_t size() const { return levels.size(); }
    /// The index of the point at exactly that step.
    std::optional<std::size_t> at(double step) const;
    double last() const { return levels.value(levels.size() - 1); }
};

/// The points of one run as the plots read them.
class RunSeries {
public:
    void reset(const std::vector<SeriesSpec>& catalogue = {});
    void append(const std::vector<Sample>& samples);
    void append(const SeriesPoints& points); ///< Adds the series where it is new.

    /// Null where the run has no such series.
    const SeriesColumn* find(std::string_view name, int rank = -1) const;
    const std::vector<SeriesColumn>& columns() const { return m_columns; }
    bool isEmpty() const { return m_lastStep < 0.0; }
    double lastStep() const { return m_lastStep; } ///< Negative where there is no point.

private:
    std::vector<SeriesColumn> m_columns;
    double m_lastStep = -1.0;
};

/// How many steps in a row the loss scaler counts as clean after the last step; none without a scaler.
std::optional<std::int64_t> cleanSteps(const RunSeries& series, std::int64_t growthInterval);

} // namespace mantissa::ui
