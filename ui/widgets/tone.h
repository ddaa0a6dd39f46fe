#pragma once

#include "ui/theme/theme.h"

#include <QString>

namespace mantissa::ui {

/// What a pill, badge or mark means. Each tone has a shape of its own beside its colour.
enum class Tone { Stop, Warn, Wasteful, Info, Ok, Accent, Neutral };

struct ToneColours {
    QColor ink, fill, line;
};

ToneColours toneColours(const Theme& theme, Tone tone);
/// The icon that goes with a tone; empty for Neutral.
QString toneIcon(Tone tone);

} // namespace mantissa::ui
