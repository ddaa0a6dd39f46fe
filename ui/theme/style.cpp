#include "ui/theme/style.h"

#include <QAbstractButton>
#include <QAbstractItemView>
#include <QComboBox>
#include <QPainter>
#include <QPainterPath>
#include <QPointer>
#include <QScrollBar>
#include <QStyleFactory>
#include <QStyleOption>
#include <QTabBar>

namespace mantissa::ui {

Style::Style(Theme theme)
    : QProxyStyle(QStyleFactory::create(QStringLiteral("Fusion"))), m_theme(std::move(theme))
{
}

void Style::polish(QWidget* widget)
{
    QProxyStyle::polish(widget);
    if (qobject_cast<QAbstractButton*>(widget) || qobject_cast<QComboBox*>(widget)
        || qobject_cast<QScrollBar*>(widget) || qobject_cast<QTabBar*>(widget))
        widget->setAttribute(Qt::WA_Hover);
}

int Style::pixelMetric(PixelMetric metric, const QStyleOption* option, const QWidget* widget) const
{
    switch (metric) {
    case PM_ScrollBarExtent:
        return 12;
    case PM_ScrollBarSliderMin:
        return 28;
    case PM_SmallIconSize:
    case PM_ButtonIconSize:
        return 14;
    case PM_ButtonMargin:
        return 12;
    case PM_ButtonShiftHorizontal:
    case PM_ButtonShiftVertical:
    case PM_TabBarTabShiftVertical:
    case PM_TabBarTabShiftHorizontal:
        return 0;
    case PM_TabBarTabOverlap:
    case PM_TabBarBaseOverlap:
        return 0;
    case PM_TabBarTabHSpace:
        return 18;
    case PM_TabBarTabVSpace:
        return 18;
    case PM_MenuBarItemSpacing:
        return 0;
    case PM_MenuBarVMargin:
    case PM_MenuBarPanelWidth:
        return 0;
    case PM_SplitterWidth:
        return 5;
    case PM_IndicatorWidth:
    case PM_IndicatorHeight:
    case PM_ExclusiveIndicatorWidth:
    case PM_ExclusiveIndicatorHeight:
        return 16;
    default:
        return QProxyStyle::pixelMetric(metric, option, widget);
    }
}

int Style::styleHint(StyleHint hint, const QStyleOption* option, const QWidget* widget,
                     QStyleHintReturn* returned) const
{
    switch (hint) {
    case SH_EtchDisabledText:
    case SH_DitherDisabledText:
    case SH_UnderlineShortcut:
    case SH_DialogButtonBox_ButtonsHaveIcons: // They are another hand's, and in no theme of ours.
        return 0;
    case SH_ItemView_ActivateItemOnSingleClick:
        return 0;
    case SH_ToolTip_WakeUpDelay:
        return 500;
    default:
        return QProxyStyle::styleHint(hint, option, widget, returned);
    }
}

QSize Style::sizeFromContents(ContentsType type, const QStyleOption* option, const QSize& size,
                              const QWidget* widget) const
{
    auto result = QProxyStyle::sizeFromContents(type, option, size, widget);
    const bool small = widget && widget->property("small").toBool();
    switch (type) {
    case CT_PushButton:
        result.setWidth(size.width() + 20);
        result.setHeight(std::max(small ? 24 : 28, size.height() + 8));
        break;
    case CT_ToolButton: {
        if (widget && widget->property("role") == QStringLiteral("link")) {
            result = size + QSize(8, 2);
            break;
        }
        const int height = std::max(small ? 24 : 28, size.height() + 4);
        const auto* tool = qstyleoption_cast<const QStyleOptionToolButton*>(option);
        const bool iconOnly = tool && tool->toolButtonStyle == Qt::ToolButtonIconOnly;
        result = QSize(iconOnly ? std::max(height, size.width()) : size.width() + 12, height);
        break;
    }
    case CT_ComboBox:
    case CT_LineEdit:
    case CT_SpinBox:
        result.setHeight(std::max(28, result.height()));
        break;
    case CT_MenuBarItem:
        result = QSize(size.width() + 18, std::max(27, size.height() + 6));
        break;
    default:
        break;
    }
    return result;
}

QRect Style::subControlRect(ComplexControl control, const QStyleOptionComplex* option, SubControl sub,
                            const QWidget* widget) const
{
    if (control == CC_ScrollBar) {
        if (sub == SC_ScrollBarAddLine || sub == SC_ScrollBarSubLine)
            return {};
        const auto* bar = qstyleoption_cast<const QStyleOptionSlider*>(option);
        const bool flat = bar->orientation == Qt::Horizontal;
        const int length = flat ? bar->rect.width() : bar->rect.height();
        const int breadth = flat ? bar->rect.height() : bar->rect.width();
        const int span = bar->maximum - bar->minimum;
        const int slider = span > 0
            ? std::clamp(length * bar->pageStep / (span + bar->pageStep), std::min(28, length), length)
            : length;
        const int start = sliderPositionFromValue(bar->minimum, bar->maximum, bar->sliderPosition,
                                                  length - slider, bar->upsideDown);
        const auto along = [&](int from, int to) {
            return flat ? QRect(from, 0, to - from, breadth) : QRect(0, from, breadth, to - from);
        };
        switch (sub) {
        case SC_ScrollBarSubPage:
            return along(0, start);
        case SC_ScrollBarAddPage:
            return along(start + slider, length);
        case SC_ScrollBarSlider:
            return along(start, start + slider);
        default:
            return bar->rect;
        }
    }
    if (control == CC_ComboBox && sub == SC_ComboBoxEditField)
        return option->rect.adjusted(8, 2, -24, -2);
    return QProxyStyle::subControlRect(control, option, sub, widget);
}

QRect Style::subElementRect(SubElement element, const QStyleOption* option, const QWidget* widget) const
{
    const auto rect = QProxyStyle::subElementRect(element, option, widget);
    if (element != SE_LineEditContents)
        return rect;
    const auto* frame = qstyleoption_cast<const QStyleOptionFrame*>(option);
    return frame && frame->lineWidth > 0 ? rect.adjusted(4, 0, -4, 0) : rect;
}

void Style::drawPrimitive(PrimitiveElement element, const QStyleOption* option, QPainter* painter,
                          const QWidget* widget) const
{
    switch (element) {
    case PE_PanelButtonCommand:
    case PE_PanelButtonTool:
        drawButtonPanel(*option, *painter, widget);
        return;
    case PE_PanelLineEdit:
        // A field inside a combo or spin box has no frame of its own.
        if (const auto* frame = qstyleoption_cast<const QStyleOptionFrame*>(option);
            frame && frame->lineWidth > 0)
            drawField(*option, *painter);
        return;
    case PE_FrameLineEdit:
        drawField(*option, *painter);
        return;
    case PE_IndicatorCheckBox:
    case PE_IndicatorItemViewItemCheck:
        drawCheck(*option, *painter, false);
        return;
    case PE_IndicatorRadioButton:
        drawCheck(*option, *painter, true);
        return;
    case PE_FrameFocusRect:
        if (option->state & State_KeyboardFocusChange)
            paintFocusRing(*painter, QRectF(option->rect).adjusted(2, 2, -2, -2), kChipRadius, 0.0);
        return;
    case PE_FrameTabBarBase:
        painter->fillRect(option->rect.x(), option->rect.bottom(), option->rect.width(), 1, m_theme.border);
        return;
    case PE_FrameMenu:
    case PE_PanelTipLabel:
        paintBox(*painter, option->rect, m_theme.raised, m_theme.borderStrong, 0.0);
        return;
    case PE_FrameStatusBarItem:
    case PE_FrameTabWidget:
        return;
    default:
        QProxyStyle::drawPrimitive(element, option, painter, widget);
    }
}

void Style::drawControl(ControlElement element, const QStyleOption* option, QPainter* painter,
                        const QWidget* widget) const
{
    switch (element) {
    case CE_TabBarTabShape:
        drawTab(*option, *painter);
        return;
    case CE_MenuBarItem:
        drawMenuBarItem(*option, *painter, widget);
        return;
    case CE_MenuBarEmptyArea:
        painter->fillRect(option->rect, m_theme.window);
        painter->fillRect(option->rect.x(), option->rect.bottom(), option->rect.width(), 1, m_theme.border);
        return;
    case CE_Splitter:
        painter->fillRect(option->rect, m_theme.panel);
        painter->fillRect(option->state & State_Horizontal
                              ? QRect(option->rect.center().x(), option->rect.y(), 1, option->rect.height())
                              : QRect(option->rect.x(), option->rect.center().y(), option->rect.width(), 1),
                          option->state & State_MouseOver ? m_theme.borderStrong : m_theme.border);
        return;
    case CE_ToolButtonLabel:
        if (const auto* button = qstyleoption_cast<const QStyleOptionToolButton*>(option);
            button && widget && widget->property("role") == QStringLiteral("link")) {
            auto copy = *button;
            copy.palette.setColor(QPalette::ButtonText, m_theme.accent);
            QProxyStyle::drawControl(element, &copy, painter, widget);
            return;
        }
        break;
    case CE_PushButtonLabel:
        if (const auto* button = qstyleoption_cast<const QStyleOptionButton*>(option); button && widget
            && widget->property("role") == QStringLiteral("primary") && (option->state & State_Enabled)) {
            auto copy = *button;
            copy.palette.setColor(QPalette::ButtonText, m_theme.onAccent);
            QProxyStyle::drawControl(element, &copy, painter, widget);
            return;
        }
        break;
    default:
        break;
    }
    QProxyStyle::drawControl(element, option, painter, widget);
}

void Style::drawComplexControl(ComplexControl control, const QStyleOptionComplex* option, QPainter* painter,
                               const QWidget* widget) const
{
    if (control == CC_ComboBox) {
        drawCombo(*option, *painter, widget);
        return;
    }
    if (control == CC_ScrollBar) {
        drawScrollBar(*option, *painter, widget);
        return;
    }
    QProxyStyle::drawComplexControl(control, option, painter, widget);
}

} // namespace mantissa::ui
