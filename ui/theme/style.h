#pragma once

#include "ui/theme/theme.h"

#include <QProxyStyle>

namespace mantissa::ui {

/// Fusion with our own buttons, fields, combos, tabs, scroll bars and focus ring, painted from a Theme.
/// A button's dynamic property "role" may be "primary", "flat" or "segment".
class Style : public QProxyStyle {
    Q_OBJECT

public:
    explicit Style(Theme theme);

    const Theme& theme() const { return m_theme; }
    void setTheme(Theme theme) { m_theme = std::move(theme); }

    void polish(QWidget* widget) override;
    using QProxyStyle::polish;
    int pixelMetric(PixelMetric metric, const QStyleOption* option, const QWidget* widget) const override;
    int styleHint(StyleHint hint, const QStyleOption* option, const QWidget* widget,
                  QStyleHintReturn* returned) const override;
    QSize sizeFromContents(ContentsType type, const QStyleOption* option, const QSize& size,
                           const QWidget* widget) const override;
    QRect subControlRect(ComplexControl control, const QStyleOptionComplex* option, SubControl sub,
                         const QWidget* widget) const override;
    QRect subElementRect(SubElement element, const QStyleOption* option,
                         const QWidget* widget) const override;
    void drawPrimitive(PrimitiveElement element, const QStyleOption* option, QPainter* painter,
                       const QWidget* widget) const override;
    void drawControl(ControlElement element, const QStyleOption* option, QPainter* painter,
                     const QWidget* widget) const override;
    void drawComplexControl(ComplexControl control, const QStyleOptionComplex* option, QPainter* painter,
                            const QWidget* widget) const override;

private:
    void drawButtonPanel(const QStyleOption& option, QPainter& painter, const QWidget* widget) const;
    void drawField(const QStyleOption& option, QPainter& painter) const;
    void drawCheck(const QStyleOption& option, QPainter& painter, bool round) const;
    void drawCombo(const QStyleOption& option, QPainter& painter, const QWidget* widget) const;
    void drawScrollBar(const QStyleOptionComplex& option, QPainter& painter, const QWidget* widget) const;
    void drawTab(const QStyleOption& option, QPainter& painter) const;
    void drawMenuBarItem(const QStyleOption& option, QPainter& painter, const QWidget* widget) const;

    Theme m_theme;
};

constexpr double kRadius = 6.0;
constexpr double kChipRadius = 4.0;

/// The ring of keyboard focus: 2 px, `gap` px outside the rectangle.
void paintFocusRing(QPainter& painter, const QRectF& rect, double radius = kRadius, double gap = 1.0);

/// Whether a widget with the focus should show the ring: the keyboard brought the focus there.
bool showsFocus(const QWidget& widget);

/// A filled rounded rectangle with a crisp 1 px border.
void paintBox(QPainter& painter, const QRectF& rect, const QColor& fill, const QPen& border,
              double radius = kRadius);

} // namespace mantissa::ui
