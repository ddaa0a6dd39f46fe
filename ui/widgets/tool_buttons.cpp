#include "ui/widgets/tool_buttons.h"

#include "ui/theme/fonts.h"
#include "ui/theme/icons.h"

#include <QToolButton>

namespace mantissa::ui {

QToolButton* makeToolButton(const QString& text, const QString& iconName, const char* role, QWidget* parent)
{
    auto* button = new QToolButton(parent);
    button->setText(text);
    button->setIcon(icon(iconName));
    button->setIconSize(QSize(14, 14));
    button->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
    button->setProperty("role", QLatin1String(role));
    button->setProperty("small", true);
    button->setFont(uiFont(TextSize::Small, QFont::Medium));
    button->setFocusPolicy(Qt::StrongFocus);
    return button;
}

} // namespace mantissa::ui
