#pragma once

#include "ui/theme/theme.h"

#include <QObject>

namespace mantissa::ui {

class Style;

enum class ThemeChoice { System, Light, Dark };

/// Which theme the application wears: the user's choice, kept in the settings, applied at once.
/// Qt 6.4 has no colour-scheme query, so System follows the lightness of the desktop's palette.
class Appearance : public QObject {
    Q_OBJECT

public:
    /// Installs style, palette and font on the application.
    explicit Appearance(QObject* parent = nullptr);

    ThemeChoice choice() const { return m_choice; }
    void setChoice(ThemeChoice choice);

signals:
    void themeChanged();

private:
    void apply();

    ThemeChoice m_choice = ThemeChoice::System;
    bool m_desktopIsDark = false;
    Style* m_style = nullptr;
};

} // namespace mantissa::ui
