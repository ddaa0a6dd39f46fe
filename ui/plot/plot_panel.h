#pragma once

#include "ui/plot/custom_plot.h"
#include "ui/plot/panel_spec.h"
#include "ui/plot/plot_furniture.h"
#include "ui/plot/run_series.h"

#include <algorithm>
#include <vector>

namespace mantissa::ui {

/// One panel of a run's plot: an axis rect with its curves, thresholds and marks. Owned by the plot's layout;
/// this is the hand that fills it.
class PlotPanel {
public:
    PlotPanel(QCustomPlot& plot, PanelSpec spec, const RunOutline& outline);

    const PanelSpec& spec() const { return m_spec; }
    QCPAxisRect& rect() const { return *m_rect; }
    PanelTitle& title() const { return *m_title; }
    PanelLegend& legend() const { return *m_legend; }
    QCPAxis& steps() const { return *m_rect->axis(QCPAxis::atBottom); }

    void showStepLabels(bool shown);
    void recolour();
    /// Draws what lies in a range of steps anew: no more points than the panel has columns of pixels.
    void refresh(const RunSeries& series, const QCPRange& steps);
    CursorStop stopAt(const RunSeries& series, double step) const;

private:
    struct Curve {
        CurveSpec spec;
        QCPGraph* line = nullptr;
        QCPGraph* least = nullptr;
        QCPGraph* most = nullptr;
    };
    struct Extent {
        double min = 0.0;
        double max = 0.0;
        bool any = false;
        void add(double value);
    };

    QCPGraph* addGraph(QCPAxis::AxisType valueAxis);
    void addMarks();
    void fillCurve(const Curve& curve, const SeriesColumn& column, const QCPRange& steps,
                   Extent& extent) const;
    void fillSteps(const Curve& curve, const SeriesColumn& column, const QCPRange& steps,
                   Extent& extent) const;
    void fillMarks(const SeriesColumn& column, const QCPRange& steps) const;
    void fillThresholds(const QCPRange& steps) const;
    void fillLegend(const RunSeries& series) const;
    std::vector<LegendRow> growthRows(const RunSeries& series) const;
    QString plateText(const RunSeries& series, double step, double value) const;
    QString text(double value) const;
    double shown(double value) const { return m_spec.axis == PanelAxis::Percent ? value * 100.0 : value; }
    bool canShow(double value) const;
    int pixels() const { return std::max(50, m_rect->width()); }

    PanelSpec m_spec;
    RunOutline m_outline;
    QCustomPlot& m_plot;
    QCPAxisRect* m_rect;
    PanelTitle* m_title;
    PanelLegend* m_legend;
    std::vector<Curve> m_curves;
    std::vector<QCPGraph*> m_thresholds;
    QCPGraph* m_posInf = nullptr;
    QCPGraph* m_negInf = nullptr;
    QCPGraph* m_nan = nullptr;
    QCPGraph* m_backoff = nullptr;
    QCPGraph* m_growth = nullptr;
};

} // namespace mantissa::ui
