#include "ui/theme/icons.h"
#include "ui/theme/style.h"

#include <QMenuBar>
#include <QPainter>
#include <QPainterPath>
#include <QStyleOption>
#include <QWidget>

namespace mantissa::ui {

void paintBox(QPainter& painter, const QRectF& rect, const QColor& fill, const QPen& border, double radius)
{
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setBrush(fill);
    painter.setPen(border);
    const double half = border.style() == Qt::NoPen ? 0.0 : border.widthF() / 2.0;
    painter.drawRoundedRect(rect.adjusted(half, half, -half, -half), std::max(0.0, radius - half),
                            std::max(0.0, radius - half));
    painter.restore();
}

void paintFocusRing(QPainter& painter, const QRectF& rect, double radius, double gap)
{
    paintBox(painter, rect.adjusted(-gap - 2, -gap - 2, gap + 2, gap + 2), Qt::transparent,
             QPen(theme().accent, 2.0), radius + gap + 1);
}

bool showsFocus(const QWidget& widget)
{
    return widget.hasFocus() && widget.window()->testAttribute(Qt::WA_KeyboardFocusChange);
}

void Style::drawButtonPanel(const QStyleOption& option, QPainter& painter, const QWidget* widget) const
{
    const auto role = widget ? widget->property("role").toString() : QString();
    const bool enabled = option.state & State_Enabled;
    const bool hovered = enabled && (option.state & State_MouseOver);
    const bool pressed = enabled && (option.state & State_Sunken);
    const bool on = option.state & State_On;
    const bool tool = widget && widget->inherits("QToolButton");
    if (role == QStringLiteral("link")) {
        if ((option.state & State_HasFocus) && (option.state & State_KeyboardFocusChange))
            paintBox(painter, option.rect, Qt::transparent, QPen(m_theme.accent, 2.0), kChipRadius);
        return;
    }
    const bool flat = role == QStringLiteral("flat") || (tool && role.isEmpty());

    QColor fill = m_theme.raised;
    QColor border = m_theme.borderStrong;
    if (!enabled) {
        fill = flat ? QColor(Qt::transparent) : m_theme.sunken;
        border = flat ? QColor(Qt::transparent) : m_theme.border;
    } else if (role == QStringLiteral("primary")) {
        fill = pressed ? mixed(m_theme.text, m_theme.accent, 0.2)
            : hovered  ? mixed(m_theme.text, m_theme.accent, 0.1)
                       : m_theme.accent;
        border = fill;
    } else if (on) {
        fill = m_theme.accentWeak;
        border = m_theme.accent;
    } else if (flat) {
        fill = pressed ? m_theme.sunken : hovered ? m_theme.hover : QColor(Qt::transparent);
        border = Qt::transparent;
    } else if (pressed || hovered) {
        fill = pressed ? m_theme.sunken : m_theme.hover;
    }
    const bool ring = (option.state & State_HasFocus) && (option.state & State_KeyboardFocusChange);
    const auto rect = QRectF(option.rect);
    paintBox(painter, rect, fill, ring ? QPen(m_theme.accent, 2.0) : QPen(border, 1.0));
}

void Style::drawField(const QStyleOption& option, QPainter& painter) const
{
    const bool focused = option.state & State_HasFocus;
    const bool enabled = option.state & State_Enabled;
    paintBox(painter, option.rect, enabled ? m_theme.panel : m_theme.sunken,
             focused ? QPen(m_theme.accent, 2.0) : QPen(m_theme.borderStrong, 1.0));
}

void Style::drawCheck(const QStyleOption& option, QPainter& painter, bool round) const
{
    const bool on = option.state & (State_On | State_NoChange);
    const bool enabled = option.state & State_Enabled;
    const auto side = std::min(option.rect.width(), option.rect.height()) - 2;
    QRectF box(0, 0, side, side);
    box.moveCenter(QRectF(option.rect).center());
    const auto fill = !enabled ? m_theme.sunken : on ? m_theme.accent : m_theme.panel;
    const bool ring = (option.state & State_HasFocus) && (option.state & State_KeyboardFocusChange);
    paintBox(painter, box, fill, QPen(on && enabled ? m_theme.accent : m_theme.borderStrong, 1.0),
             round ? side / 2.0 : 3.0);
    if (ring)
        paintFocusRing(painter, box, round ? side / 2.0 : 3.0, 0.0);
    if (!on)
        return;
    const auto mark = enabled ? m_theme.onAccent : m_theme.text3;
    if (round) {
        painter.setRenderHint(QPainter::Antialiasing);
        painter.setBrush(mark);
        painter.setPen(Qt::NoPen);
        painter.drawEllipse(box.center(), side / 5.0, side / 5.0);
    } else {
        paintIcon(painter, box.adjusted(1, 1, -1, -1), QStringLiteral("check"), mark);
    }
}

void Style::drawCombo(const QStyleOption& option, QPainter& painter, const QWidget* widget) const
{
    const auto* combo = qstyleoption_cast<const QStyleOptionComboBox*>(&option);
    const bool enabled = option.state & State_Enabled;
    const bool hovered = enabled && (option.state & State_MouseOver);
    const bool focused = (option.state & State_HasFocus)
        && ((combo && combo->editable) || (option.state & State_KeyboardFocusChange));
    const auto rest = combo && combo->editable ? m_theme.panel : m_theme.raised;
    paintBox(painter, option.rect,
             !enabled      ? m_theme.sunken
                 : hovered ? m_theme.hover
                           : rest,
             focused ? QPen(m_theme.accent, 2.0) : QPen(m_theme.borderStrong, 1.0));
    Q_UNUSED(widget)
    const QRectF arrow(option.rect.right() - 19, option.rect.center().y() - 5.5, 12, 12);
    paintIcon(painter, arrow, QStringLiteral("chevron_down"), enabled ? m_theme.text2 : m_theme.text3);
}

void Style::drawScrollBar(const QStyleOptionComplex& option, QPainter& painter, const QWidget* widget) const
{
    const auto slider = subControlRect(CC_ScrollBar, &option, SC_ScrollBarSlider, widget);
    const auto* bar = qstyleoption_cast<const QStyleOptionSlider*>(&option);
    if (bar && bar->minimum == bar->maximum)
        return;
    const bool active = option.state & (State_MouseOver | State_Sunken);
    paintBox(painter, QRectF(slider).adjusted(3, 3, -3, -3), active ? m_theme.text3 : m_theme.borderStrong,
             Qt::NoPen, 3.0);
}

void Style::drawTab(const QStyleOption& option, QPainter& painter) const
{
    const bool selected = option.state & State_Selected;
    const bool hovered = option.state & State_MouseOver;
    if (hovered && !selected)
        painter.fillRect(option.rect.adjusted(0, 0, 0, -1), m_theme.hover);
    painter.fillRect(option.rect.x(), option.rect.bottom(), option.rect.width(), 1, m_theme.border);
    if (selected)
        painter.fillRect(option.rect.x(), option.rect.bottom() - 1, option.rect.width(), 2, m_theme.accent);
}

void Style::drawMenuBarItem(const QStyleOption& option, QPainter& painter, const QWidget* widget) const
{
    const auto* item = qstyleoption_cast<const QStyleOptionMenuItem*>(&option);
    if (!item)
        return;
    painter.fillRect(option.rect, m_theme.window);
    painter.fillRect(option.rect.x(), option.rect.bottom(), option.rect.width(), 1, m_theme.border);
    if (option.state & (State_Selected | State_Sunken))
        paintBox(painter, QRectF(option.rect).adjusted(1, 3, -1, -4), m_theme.hover, Qt::NoPen, kChipRadius);
    const int flags = Qt::AlignCenter | Qt::TextSingleLine
        | (proxy()->styleHint(SH_UnderlineShortcut, item, widget, nullptr) ? Qt::TextShowMnemonic
                                                                           : Qt::TextHideMnemonic);
    drawItemText(&painter, option.rect, flags, item->palette, option.state & State_Enabled, item->text,
                 QPalette::WindowText);
}

} // namespace mantissa::ui
