#include "ui/plot/run_series.h"

#include <algorithm>

namespace mantissa::ui {

std::optional<std::size_t> SeriesColumn::at(double step) const
{
    const auto index = levels.nearest(step);
    if (index >= levels.size() || levels.x(index) != step)
        return std::nullopt;
    return index;
}

void RunSeries::reset(const std::vector<SeriesSpec>& catalogue)
{
    m_columns.clear();
    for (const auto& spec : catalogue)
        m_columns.push_back({spec, {}});
    m_lastStep = -1.0;
}

void RunSeries::append(const std::vector<Sample>& samples)
{
    for (const auto& sample : samples) {
        const auto series = static_cast<std::size_t>(sample.series);
        if (series >= m_columns.size())
            continue;
        m_columns[series].levels.append(sample.step, sample.value);
        m_lastStep = std::max(m_lastStep, static_cast<double>(sample.step));
    }
}

void RunSeries::append(const SeriesPoints& points)
{
    auto column = std::find_if(m_columns.begin(), m_columns.end(),
                               [&](const SeriesColumn& other) { return other.spec == points.spec; });
    if (column == m_columns.end())
        column = m_columns.insert(m_columns.end(), SeriesColumn{points.spec, {}});
    for (std::size_t i = 0; i < points.step.size(); ++i)
        column->levels.append(points.step[i], points.value[i]);
    if (!points.step.empty())
        m_lastStep = std::max(m_lastStep, static_cast<double>(points.step.back()));
}

const SeriesColumn* RunSeries::find(std::string_view name, int rank) const
{
    const auto column = std::find_if(m_columns.begin(), m_columns.end(), [&](const SeriesColumn& other) {
        return other.spec.name == name && other.spec.rank == rank;
    });
    return column == m_columns.end() ? nullptr : &*column;
}

std::optional<std::int64_t> cleanSteps(const RunSeries& series, std::int64_t growthInterval)
{
    const auto* tracker = series.find("growth_tracker");
    if (!tracker || tracker->size() == 0 || growthInterval <= 0)
        return std::nullopt;
    // Recorded is what the last step began with; the scaler holds what it left.
    const auto* skipped = series.find("skipped");
    if (skipped && skipped->size() > 0 && skipped->last() > 0.0)
        return 0;
    return (static_cast<std::int64_t>(tracker->last()) + 1) % growthInterval;
}

} // namespace mantissa::ui
