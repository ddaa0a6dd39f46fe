#include "ui/theme/appearance.h"

#include "ui/theme/fonts.h"
#include "ui/theme/style.h"

#include <QApplication>
#include <QPixmapCache>
#include <QSettings>

#include <array>

namespace mantissa::ui {
namespace {

const auto kKey = QStringLiteral("appearance/theme");
constexpr std::array kIds = {"system", "light", "dark"};

ThemeChoice storedChoice()
{
    const auto stored = QSettings().value(kKey).toString();
    for (std::size_t i = 0; i < kIds.size(); ++i)
        if (stored == QLatin1String(kIds[i]))
            return static_cast<ThemeChoice>(i);
    return ThemeChoice::System;
}

} // namespace

Appearance::Appearance(QObject* parent) : QObject(parent), m_choice(storedChoice())
{
    const auto desktop = QApplication::palette();
    m_desktopIsDark =
        desktop.color(QPalette::Window).lightness() < desktop.color(QPalette::WindowText).lightness();
    m_style = new Style(shippedTheme(m_desktopIsDark));
    QApplication::setStyle(m_style);
    QApplication::setFont(uiFont());
    apply();
}

void Appearance::setChoice(ThemeChoice choice)
{
    m_choice = choice;
    QSettings().setValue(kKey, QLatin1String(kIds[static_cast<std::size_t>(choice)]));
    apply();
}

void Appearance::apply()
{
    const bool dark = m_choice == ThemeChoice::System ? m_desktopIsDark : m_choice == ThemeChoice::Dark;
    m_style->setTheme(shippedTheme(dark));
    QPixmapCache::clear();
    QApplication::setPalette(paletteOf(m_style->theme()));
    emit themeChanged();
}

} // namespace mantissa::ui
