#include "ui/widgets/action_bar.h"

#include "ui/theme/fonts.h"
#include "ui/theme/icons.h"
#include "ui/theme/theme.h"
#include "ui/widgets/panels.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QPainter>
#include <QPushButton>

namespace mantissa::ui {

ActionBar::ActionBar(Tone tone, QWidget* parent)
    : QWidget(parent),
      m_tone(tone),
      m_title(new ThemedLabel({}, uiFont(TextSize::Title, QFont::DemiBold), &Theme::text, this)),
      m_detail(new ThemedLabel({}, uiFont(TextSize::Small), &Theme::text, this))
{
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(48, 12, 14, 12);
    row->setSpacing(8);
    auto* texts = new QVBoxLayout;
    texts->setSpacing(3);
    for (auto* label : {m_title, m_detail}) {
        label->setWordWrap(true);
        label->setTextInteractionFlags(Qt::TextSelectableByMouse);
        texts->addWidget(label);
    }
    row->addLayout(texts, 1);
    m_buttons = new QHBoxLayout;
    m_buttons->setSpacing(8);
    row->addLayout(m_buttons);
}

void ActionBar::setTexts(const QString& title, const QString& detail)
{
    m_title->setText(title);
    m_detail->setText(detail);
    m_detail->setVisible(!detail.isEmpty());
    setAccessibleName(title + u' ' + detail);
}

QString ActionBar::title() const
{
    return m_title->text();
}

QString ActionBar::detail() const
{
    return m_detail->text();
}

QPushButton* ActionBar::addButton(const QString& text, const QString& iconName, bool primary)
{
    auto* button = new QPushButton(text, this);
    if (primary)
        button->setProperty("role", QStringLiteral("primary"));
    if (!iconName.isEmpty())
        button->setIcon(primary ? icon(iconName, &Theme::onAccent) : icon(iconName));
    button->setFont(uiFont(TextSize::Small, QFont::Medium));
    button->setAutoDefault(true);
    m_buttons->addWidget(button, 0, Qt::AlignVCenter);
    return button;
}

void ActionBar::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    const auto colours = toneColours(theme(), m_tone);
    painter.fillRect(rect(), colours.fill);
    painter.fillRect(0, height() - 1, width(), 1, colours.line);
    paintIcon(painter, QRectF(16, 14, 20, 20), toneIcon(m_tone), colours.ink, colours.fill);
}

} // namespace mantissa::ui
