#pragma once

// The one door to QCustomPlot, whose header needs the `foreach` that QT_NO_FOREACH takes away.
#define foreach(variable, container) for (variable : container)
#include <qcustomplot.h>
#undef foreach
