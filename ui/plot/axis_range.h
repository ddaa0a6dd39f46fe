#pragma once

#include "ui/plot/custom_plot.h"
#include "ui/plot/panel_spec.h"

namespace mantissa::ui {

/// The range that shows finite values from `min` to `max` well. For logarithmic axes both are above zero.
QCPRange rangeFor(PanelAxis axis, double min, double max);

/// Ticks with short labels; on a logarithmic axis at whole powers, or at 1, 2, 5 where the range is short.
QSharedPointer<QCPAxisTicker> tickerFor(PanelAxis axis);

/// Steps on the common x axis.
QSharedPointer<QCPAxisTicker> stepTicker();

constexpr bool isLogarithmic(PanelAxis axis)
{
    return axis == PanelAxis::Log2 || axis == PanelAxis::Log10;
}

} // namespace mantissa::ui
