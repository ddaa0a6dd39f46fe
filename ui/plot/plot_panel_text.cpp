#include "ui/plot/axis_range.h"
#include "ui/plot/plot_panel.h"
#include "ui/plot/tick_text.h"
#include "ui/text/format.h"

#include <algorithm>
#include <cmath>

namespace mantissa::ui {
namespace {

QString say(const char* text)
{
    return QCoreApplication::translate("RunPlot", text);
}

bool wasSkipped(const RunSeries& series, double step)
{
    const auto* skipped = series.find("skipped");
    const auto at = skipped ? skipped->at(step) : std::nullopt;
    return at && skipped->levels.value(*at) > 0.0;
}

bool hasKind(const SeriesColumn& column, bool nan)
{
    const auto& points = column.levels.nonFinite();
    return std::any_of(points.begin(), points.end(),
                       [&](const NonFinitePoint& each) { return std::isnan(each.value) == nan; });
}

} // namespace

QString PlotPanel::text(double value) const
{
    if (!std::isfinite(value))
        return formatNumber(value);
    if (m_spec.axis == PanelAxis::Percent)
        return say("%1 %").arg(QString::number(value * 100.0, 'f', value < 0.1 ? 2 : 1));
    if (m_spec.axis == PanelAxis::Log2)
        return formatNumber(value);
    return std::abs(value) < 1e-3 ? tickText(value) : formatNumber(value, isLogarithmic(m_spec.axis) ? 3 : 4);
}

CursorStop PlotPanel::stopAt(const RunSeries& series, double step) const
{
    CursorStop stop{m_rect->rect(), std::nullopt, {}};
    const auto* column = series.find(m_curves.back().spec.series);
    const auto at = column ? column->at(step) : std::nullopt;
    if (!at)
        return stop;
    const double value = column->levels.value(*at);
    stop.plate = plateText(series, step, value);
    if (canShow(value)) {
        const auto y = m_rect->axis(QCPAxis::atLeft)->coordToPixel(shown(value));
        stop.ring = QPointF(steps().coordToPixel(step), y);
    }
    return stop;
}

QString PlotPanel::plateText(const RunSeries& series, double step, double value) const
{
    auto words = text(value);
    if (!std::isfinite(value) && wasSkipped(series, step))
        return say("%1, skipped").arg(words);
    if (m_curves.size() < 2)
        return words;
    const auto& other = m_curves.front().spec;
    const auto* column = series.find(other.series);
    if (const auto at = column ? column->at(step) : std::nullopt)
        words += (other.marked ? QStringLiteral(" · %1 ").arg(other.label) : QStringLiteral(" → "))
            + text(column->levels.value(*at));
    return words;
}

std::vector<LegendRow> PlotPanel::growthRows(const RunSeries& series) const
{
    const auto held = cleanSteps(series, m_outline.growthInterval);
    if (!held)
        return {};
    const auto clean = *held;
    const auto left = std::max<std::int64_t>(0, m_outline.growthInterval - clean);
    const double share = static_cast<double>(clean) / static_cast<double>(m_outline.growthInterval);
    return {{Swatch::None, {}, say("growth in"), false, -1.0},
            {Swatch::None, {}, counted(left, say("step"), say("steps")), true, -1.0},
            {Swatch::None, seriesColour(theme(), 0), {}, false, share},
            {Swatch::None,
             {},
             say("%1 of %2 clean").arg(formatCount(clean), formatCount(m_outline.growthInterval)),
             false,
             -1.0}};
}

void PlotPanel::fillLegend(const RunSeries& series) const
{
    std::vector<LegendRow> rows;
    const auto* column = series.find(m_curves.back().spec.series);
    if (series.isEmpty()) {
        m_legend->setRows({}); // What stands across the plot says why.
        return;
    }
    if (!column || column->size() == 0) {
        m_legend->setRows({{Swatch::None, {}, say("not recorded"), false, -1.0}});
        return;
    }
    rows.push_back({Swatch::None, {}, text(column->last()), true, -1.0});
    if (m_spec.scaleMarks) {
        for (auto& row : growthRows(series))
            rows.push_back(std::move(row));
        m_legend->setRows(std::move(rows));
        return;
    }
    for (auto curve = m_curves.rbegin(); curve != m_curves.rend(); ++curve) {
        const auto colour = seriesColour(theme(), curve->spec.colour);
        const bool top = curve == m_curves.rbegin();
        const bool solid = top || curve->spec.marked;
        rows.push_back({solid ? Swatch::Line : Swatch::Dashed, colour, curve->spec.label, false, -1.0});
        const auto* points = curve->spec.marked ? series.find(curve->spec.series) : nullptr;
        if (points && points->size() > 0)
            rows.push_back({Swatch::None, {}, text(points->last()), true, -1.0});
        if (curve->most && curve->most->dataCount() > 0)
            rows.push_back(
                {Swatch::Band, mixed(colour, theme().panel, 0.18), say("least – most"), false, -1.0});
    }
    const auto skipped = m_outline.scaled ? say("%1, skipped") : QStringLiteral("%1");
    if (hasKind(*column, false))
        rows.push_back({Swatch::TriangleUp, theme().stop, skipped.arg(say("Inf")), false, -1.0});
    if (hasKind(*column, true))
        rows.push_back({Swatch::Cross, theme().stop, skipped.arg(say("NaN")), false, -1.0});
    for (const auto& threshold : m_spec.thresholds)
        rows.push_back({Swatch::Dashed, theme().text2, threshold.label, false, -1.0});
    m_legend->setRows(std::move(rows));
}

} // namespace mantissa::ui
