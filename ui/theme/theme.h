#pragma once

#include "engine/core/result.h"

#include <QColor>
#include <QPalette>
#include <QString>

namespace mantissa::ui {

/// Every colour of the window, read from a theme file. Colour means three things only: accent (selected,
/// focused, previewed), severity, and dtype; each of them also has a shape or a word.
struct Theme {
    QString name;
    bool dark = false;
    QColor window, panel, canvas, raised, sunken, hover;
    QColor border, borderStrong, grid, gridStrong;
    QColor text, text2, text3, onAccent;
    QColor accent, accentWeak, accentLine;
    QColor stop, stopWeak, stopLine;
    QColor warn, warnWeak, warnLine;
    QColor waste, info;
    QColor ok, okWeak, okLine;
    QColor fp32, tf32, bf16, fp16, fp8, integer;
    QColor fp32Weak, tf32Weak, bf16Weak, fp16Weak, fp8Weak, integerWeak;
    QColor shadow, plotMuted;
};

/// Reads a theme file; every colour must be there.
Result<Theme> readTheme(const QByteArray& json);

/// One of the two themes that ship.
Theme shippedTheme(bool dark);

/// The theme the application's style paints with; the light one where another style is set.
const Theme& theme();

QPalette paletteOf(const Theme& theme);

/// Colours of a dtype by its name: "fp32", "tf32", "bf16", "fp16", "fp8…", "int…"; others get those of
/// integers.
QColor dtypeColour(const Theme& theme, QStringView dtype);
QColor dtypeWeakColour(const Theme& theme, QStringView dtype);

/// Plot series 0–3; more start over. Store the index, not the colour.
QColor seriesColour(const Theme& theme, int index);

/// `over` at `share` (0–1) on `under`.
QColor mixed(const QColor& over, const QColor& under, double share);

} // namespace mantissa::ui
