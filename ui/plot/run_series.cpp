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

} // namespace mantissa::ui
