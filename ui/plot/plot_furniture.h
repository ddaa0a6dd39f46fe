#pragma once

#include "ui/plot/custom_plot.h"
#include "ui/theme/theme.h"

#include <optional>
#include <vector>

namespace mantissa::ui {

/// The words over a panel: its title, and in grey what the axis says.
class PanelTitle : public QCPLayoutElement {
public:
    PanelTitle(QCustomPlot* plot, QString title, QString subtitle);

    void setTextLeft(int pixels) { m_left = pixels; }

protected:
    void draw(QCPPainter* painter) override;

private:
    QString m_title;
    QString m_subtitle;
    int m_left = 0;
};

enum class Swatch { None, Line, Dashed, Band, TriangleUp, TriangleDown, Cross };

/// A line of a legend.
struct LegendRow {
    Swatch swatch = Swatch::None;
    QColor colour;
    QString text;
    bool strong = false; ///< A number in the tabular font.
    double share = -1.0; ///< From 0 to 1: a bar instead of text.
};

/// What the lines and marks of a panel mean, at its right, with the newest values on top.
class PanelLegend : public QCPLayoutElement {
public:
    explicit PanelLegend(QCustomPlot* plot);

    void setRows(std::vector<LegendRow> rows) { m_rows = std::move(rows); }

protected:
    void draw(QCPPainter* painter) override;

private:
    void drawRow(QCPPainter& painter, const LegendRow& row, const QRect& place) const;

    std::vector<LegendRow> m_rows;
};

/// Where the cursor meets one panel.
struct CursorStop {
    QRect panel;
    std::optional<QPointF> ring;
    QString plate; ///< Empty: nothing recorded here.
};

/// The cursor over all panels, on a layer of its own, so that moving it draws no curve again.
class PlotCursor : public QCPLayerable {
public:
    explicit PlotCursor(QCustomPlot* plot);

    void show(double x, const QString& stepText, std::vector<CursorStop> stops);
    void hide() { m_stops.clear(); }
    /// The newest step's place; negative where it is out of view.
    void setNow(double x, const QRect& panels);

protected:
    void applyDefaultAntialiasingHint(QCPPainter* painter) const override;
    void draw(QCPPainter* painter) override;

private:
    void drawPlate(QCPPainter& painter, const CursorStop& stop) const;

    double m_x = -1.0;
    double m_now = -1.0;
    QRect m_panels;
    QString m_stepText;
    std::vector<CursorStop> m_stops;
};

void drawSwatch(QPainter& painter, Swatch swatch, const QColor& colour, const QRectF& place);

} // namespace mantissa::ui
