#include "ui/plot/plot_panel.h"

#include "ui/plot/axis_range.h"
#include "ui/theme/fonts.h"

#include <algorithm>
#include <cmath>

namespace mantissa::ui {
namespace {

constexpr int kLeftMargin = 56;
constexpr double kEnvelopeShare = 0.18;
constexpr double kTopMark = 0.955; // On the marks' own axis from 0 to 1.
constexpr double kBottomMark = 0.045;

QPainterPath triangle(double up, double above)
{
    QPainterPath path;
    path.addPolygon(
        QPolygonF({QPointF(-4, 3 * up - above), QPointF(4, 3 * up - above), QPointF(0, -4 * up - above)}));
    path.closeSubpath();
    return path;
}

void setShape(QCPGraph* graph, const QPainterPath& shape, const QColor& colour)
{
    graph->setScatterStyle(QCPScatterStyle(shape, QPen(Qt::NoPen), colour));
}

/// No two marks of one shape in one column of pixels.
class MarkThinner {
public:
    explicit MarkThinner(double stepsPerPixel) : m_least(stepsPerPixel) {}
    bool keep(double step)
    {
        if (m_any && step - m_last < m_least)
            return false;
        m_any = true;
        m_last = step;
        return true;
    }

private:
    double m_least;
    double m_last = 0.0;
    bool m_any = false;
};

} // namespace

void PlotPanel::Extent::add(double value)
{
    min = any ? std::min(min, value) : value;
    max = any ? std::max(max, value) : value;
    any = true;
}

PlotPanel::PlotPanel(QCustomPlot& plot, PanelSpec spec, const RunOutline& outline)
    : m_spec(std::move(spec)),
      m_outline(outline),
      m_plot(plot),
      m_rect(new QCPAxisRect(&plot)),
      m_title(new PanelTitle(&plot, m_spec.title, m_spec.subtitle)),
      m_legend(new PanelLegend(&plot))
{
    m_rect->setMinimumMargins(QMargins(kLeftMargin, 0, 6, 6));
    m_title->setTextLeft(kLeftMargin);
    auto* values = m_rect->axis(QCPAxis::atLeft);
    values->setTicker(tickerFor(m_spec.axis));
    if (isLogarithmic(m_spec.axis))
        values->setScaleType(QCPAxis::stLogarithmic);
    steps().setTicker(stepTicker());
    m_rect->axis(QCPAxis::atRight)->setRange(0.0, 1.0); // Invisible; holds the marks.

    for (std::size_t i = 0; i < m_spec.thresholds.size(); ++i)
        m_thresholds.push_back(addGraph(QCPAxis::atLeft));
    for (const auto& curve : m_spec.curves) {
        Curve made{curve, nullptr, nullptr, nullptr};
        if (curve.envelope) {
            made.least = addGraph(QCPAxis::atLeft);
            made.most = addGraph(QCPAxis::atLeft);
            made.most->setChannelFillGraph(made.least);
        }
        made.line = addGraph(QCPAxis::atLeft);
        made.line->setLineStyle(m_spec.steps ? QCPGraph::lsStepLeft : QCPGraph::lsLine);
        m_curves.push_back(made);
    }
    addMarks();
}

QCPGraph* PlotPanel::addGraph(QCPAxis::AxisType valueAxis)
{
    auto* graph = m_plot.addGraph(&steps(), m_rect->axis(valueAxis));
    graph->setSelectable(QCP::stNone);
    graph->setAdaptiveSampling(false); // Thinned here already.
    graph->setPen(Qt::NoPen);
    return graph;
}

void PlotPanel::addMarks()
{
    if (m_spec.scaleMarks) {
        m_backoff = addGraph(QCPAxis::atLeft);
        m_growth = addGraph(QCPAxis::atLeft);
        m_backoff->setLineStyle(QCPGraph::lsNone);
        m_growth->setLineStyle(QCPGraph::lsNone);
    }
    m_posInf = addGraph(QCPAxis::atRight);
    m_nan = addGraph(QCPAxis::atRight);
    m_negInf = addGraph(QCPAxis::atRight);
    m_posInf->setLineStyle(QCPGraph::lsImpulse);
    m_nan->setLineStyle(QCPGraph::lsImpulse);
    m_negInf->setLineStyle(QCPGraph::lsNone);
}

void PlotPanel::showStepLabels(bool shown)
{
    steps().setTickLabels(shown);
}

void PlotPanel::recolour()
{
    const auto& colours = theme();
    for (const auto type : {QCPAxis::atLeft, QCPAxis::atBottom}) {
        auto* axis = m_rect->axis(type);
        axis->setBasePen(QPen(colours.borderStrong, 1));
        axis->setTickPen(Qt::NoPen);
        axis->setSubTickPen(Qt::NoPen);
        axis->setNumberFormat(QStringLiteral("g")); // Else our own labels are rewritten as powers.
        axis->setTickLabelFont(monoFont(TextSize::Tiny));
        axis->setTickLabelColor(colours.text2);
        axis->grid()->setPen(QPen(colours.grid, 1));
        axis->grid()->setZeroLinePen(Qt::NoPen);
    }
    QPen dashed(colours.text2, 1); // Two points only: dashes cost nothing here.
    dashed.setDashPattern({6, 4});
    for (auto* threshold : m_thresholds)
        threshold->setPen(dashed);
    if (m_thresholds.size() == 2) {
        m_thresholds.front()->setBrush(colours.warnWeak);
        m_thresholds.front()->setChannelFillGraph(m_thresholds.back());
    }
    for (const auto& curve : m_curves) {
        const auto colour = seriesColour(colours, curve.spec.colour);
        curve.line->setPen(QPen(colour, 1.5));
        if (curve.spec.marked)
            curve.line->setScatterStyle(
                QCPScatterStyle(QCPScatterStyle::ssSquare, QPen(colour, 1.5), colours.panel, 6));
        if (curve.most)
            curve.most->setBrush(mixed(colour, colours.panel, kEnvelopeShare));
    }
    setShape(m_posInf, triangle(1.0, 0.0), colours.stop);
    setShape(m_negInf, triangle(-1.0, 0.0), colours.stop);
    m_nan->setScatterStyle(
        QCPScatterStyle(QCPScatterStyle::ssCross, QPen(colours.stop, 2.0), Qt::NoBrush, 7));
    QPen down(mixed(colours.stop, colours.panel, 0.6), 1);
    down.setDashPattern({1, 3});
    m_posInf->setPen(down);
    m_nan->setPen(down);
    if (m_backoff) {
        setShape(m_backoff, triangle(-1.0, 9.0), colours.stop);
        setShape(m_growth, triangle(1.0, 9.0), colours.ok);
    }
}

bool PlotPanel::canShow(double value) const
{
    return std::isfinite(value) && (!isLogarithmic(m_spec.axis) || value > 0.0);
}

void PlotPanel::refresh(const RunSeries& series, const QCPRange& range)
{
    Extent extent;
    m_rect->axis(QCPAxis::atLeft)->setTickLabels(!series.isEmpty());
    for (const auto& curve : m_curves) {
        const auto* column = series.find(curve.spec.series);
        if (!column) {
            curve.line->data()->clear();
            continue;
        }
        if (m_spec.steps)
            fillSteps(curve, *column, range, extent);
        else
            fillCurve(curve, *column, range, extent);
    }
    if (const auto* column = series.find(m_curves.back().spec.series))
        fillMarks(*column, range);
    if (!extent.any && isLogarithmic(m_spec.axis))
        extent.add(1.0);
    for (const auto& threshold : m_spec.thresholds)
        extent.add(threshold.value);
    if (extent.any)
        m_rect->axis(QCPAxis::atLeft)->setRange(rangeFor(m_spec.axis, extent.min, extent.max));
    fillThresholds(range);
    fillLegend(series);
}

void PlotPanel::fillCurve(const Curve& curve, const SeriesColumn& column, const QCPRange& range,
                          Extent& extent) const
{
    QVector<QCPGraphData> line;
    QVector<QCPGraphData> least;
    QVector<QCPGraphData> most;
    const auto buckets = column.levels.query(range.lower, range.upper, pixels() / 3);
    const bool dense = std::any_of(buckets.begin(), buckets.end(),
                                   [](const LevelBucket& bucket) { return bucket.finite > 1; });
    for (const auto& bucket : buckets) {
        if (bucket.finite == 0 || !canShow(bucket.mean))
            continue;
        const double step = (bucket.firstX + bucket.lastX) / 2.0;
        line.push_back({step, shown(bucket.mean)});
        extent.add(shown(bucket.mean));
        if (!curve.most || !dense)
            continue;
        const double low = canShow(bucket.min) ? bucket.min : bucket.mean;
        least.push_back({step, shown(low)});
        most.push_back({step, shown(bucket.max)});
        extent.add(shown(low));
        extent.add(shown(bucket.max));
    }
    curve.line->data()->set(line, true);
    if (curve.most) {
        curve.least->data()->set(least, true);
        curve.most->data()->set(most, true);
    }
}

void PlotPanel::fillSteps(const Curve& curve, const SeriesColumn& column, const QCPRange& range,
                          Extent& extent) const
{
    QVector<QCPGraphData> line;
    QVector<QCPGraphData> marks[2]; // Falls and rises.
    MarkThinner thin[2] = {MarkThinner(range.size() / pixels()), MarkThinner(range.size() / pixels())};
    double before = 0.0;
    // A bucket's ends are kept, so a scale that changes inside one keeps its steps to a pixel.
    for (const auto& bucket : column.levels.query(range.lower, range.upper, pixels())) {
        if (bucket.finite == 0 || !canShow(bucket.min))
            continue;
        const std::pair<double, double> ends[] = {{bucket.firstX, bucket.first}, {bucket.lastX, bucket.last}};
        for (const auto& [step, value] : ends) {
            if (!line.isEmpty() && value != before) {
                const int fall = value < before ? 0 : 1;
                if (thin[fall].keep(step))
                    marks[fall].push_back({step, std::max(value, before)});
            }
            if (!line.isEmpty() && value == before && line.size() > 1 && line[line.size() - 2].value == value)
                line.back().key = step; // A level is two points, however long it is.
            else
                line.push_back({step, value});
            before = value;
        }
        extent.add(bucket.min);
        extent.add(bucket.max);
    }
    curve.line->data()->set(line, true);
    if (m_backoff) {
        m_backoff->data()->set(marks[0], true);
        m_growth->data()->set(marks[1], true);
    }
}

void PlotPanel::fillMarks(const SeriesColumn& column, const QCPRange& range) const
{
    QVector<QCPGraphData> marks[3]; // Inf, NaN, −Inf.
    const double perPixel = range.size() / pixels();
    MarkThinner thin[3] = {MarkThinner(perPixel), MarkThinner(perPixel), MarkThinner(perPixel)};
    const auto& points = column.levels.nonFinite();
    auto point = std::lower_bound(points.begin(), points.end(), range.lower,
                                  [](const NonFinitePoint& each, double step) { return each.x < step; });
    for (; point != points.end() && point->x <= range.upper; ++point) {
        const int shape = std::isnan(point->value) ? 1 : point->value > 0.0 ? 0 : 2;
        if (thin[shape].keep(point->x))
            marks[shape].push_back({point->x, shape == 2 ? kBottomMark : kTopMark});
    }
    m_posInf->data()->set(marks[0], true);
    m_nan->data()->set(marks[1], true);
    m_negInf->data()->set(marks[2], true);
}

void PlotPanel::fillThresholds(const QCPRange& range) const
{
    for (std::size_t i = 0; i < m_thresholds.size(); ++i) {
        const double value = m_spec.thresholds[i].value;
        m_thresholds[i]->data()->set({{range.lower, value}, {range.upper, value}}, true);
    }
}

} // namespace mantissa::ui
