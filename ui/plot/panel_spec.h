#pragma once

#include "ui/plot/run_outline.h"

#include <QString>

#include <string>
#include <vector>

namespace mantissa::ui {

enum class PanelAxis { Linear, LinearFromZero, Percent, Log2, Log10 };

/// One line of a panel.
struct CurveSpec {
    std::string series;
    int colour = 0; ///< Index of a series colour.
    QString label;
    bool envelope = true; ///< Least to most, where several points share a column of pixels.
    bool marked = false; ///< Points are few and far between: each has a hollow square.
};

/// A horizontal line that means something.
struct ThresholdSpec {
    double value = 0.0;
    QString label;
};

/// What one panel of the run's plot shows.
struct PanelSpec {
    QString title;
    QString subtitle;
    PanelAxis axis = PanelAxis::Linear;
    bool steps = false; ///< The value holds until the next point.
    bool scaleMarks = false; ///< ▼ where the value falls, ▲ where it rises.
    int height =
        100; ///< Of the drawing, at the design's size; panels share what there is in this proportion.
    std::vector<CurveSpec> curves; ///< The last one is drawn on top and read out first.
    std::vector<ThresholdSpec> thresholds; ///< Two make a band.
};

/// The panels of a run, top to bottom.
std::vector<PanelSpec> panelsOf(const RunOutline& outline);

} // namespace mantissa::ui
