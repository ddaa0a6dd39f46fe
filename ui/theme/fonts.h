#pragma once

#include <QFont>

namespace mantissa::ui {

/// Sizes of type in logical pixels at 96 dpi; fonts are set in points so that they follow the desktop.
enum class TextSize { Tiny = 11, Small = 12, Base = 13, Title = 15, Article = 18 };

/// Inter where it is installed, else the desktop's own sans.
QFont uiFont(TextSize size = TextSize::Base, QFont::Weight weight = QFont::Normal);
/// JetBrains Mono where it is installed, else the desktop's monospace. Its figures are tabular.
QFont monoFont(TextSize size = TextSize::Small, QFont::Weight weight = QFont::Normal);

} // namespace mantissa::ui
