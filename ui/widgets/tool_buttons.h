#pragma once

#include <QString>

class QToolButton;
class QWidget;

namespace mantissa::ui {

/// A small button with an icon and a word, as tool bars and headers have it. `role`: "flat", "segment" or
/// empty.
QToolButton* makeToolButton(const QString& text, const QString& iconName, const char* role, QWidget* parent);

} // namespace mantissa::ui
