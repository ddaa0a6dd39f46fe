#include "ui/pages/compose/palette_strip.h"

#include "ui/theme/fonts.h"
#include "ui/theme/style.h"

#include <QAbstractButton>
#include <QButtonGroup>
#include <QPainter>
#include <QVBoxLayout>

namespace mantissa::ui {
namespace {

class UprightButton : public QAbstractButton {
public:
    UprightButton(const QString& title, QWidget* parent) : QAbstractButton(parent)
    {
        setText(title);
        setAccessibleName(title);
        setCheckable(true);
        setFont(uiFont(TextSize::Tiny, QFont::Medium));
        setAttribute(Qt::WA_Hover);
        setFocusPolicy(Qt::StrongFocus);
        setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Expanding);
    }

    QSize sizeHint() const override { return {30, 78}; }
    QSize minimumSizeHint() const override { return {30, 24}; }

protected:
    void paintEvent(QPaintEvent*) override
    {
        QPainter painter(this);
        const auto& colours = theme();
        if (isChecked() || underMouse())
            paintBox(painter, rect(), isChecked() ? colours.accentWeak : colours.hover, Qt::NoPen);
        if (showsFocus(*this))
            paintFocusRing(painter, QRectF(rect()).adjusted(2, 2, -2, -2), kRadius, 0);
        painter.setPen(isChecked() ? colours.accent : colours.text2);
        painter.translate(0, height());
        painter.rotate(-90);
        painter.drawText(QRect(0, 0, height(), width()), Qt::AlignCenter,
                         fontMetrics().elidedText(text(), Qt::ElideRight, height() - 4));
    }
};

} // namespace

PaletteStrip::PaletteStrip(const QStringList& groups, QWidget* parent)
    : Surface(&Theme::panel, Qt::RightEdge, parent), m_buttons(new QButtonGroup(this))
{
    m_buttons->setExclusive(false);
    for (const auto& group : groups)
        m_buttons->addButton(new UprightButton(group, this), static_cast<int>(m_buttons->buttons().size()));
    connect(m_buttons, &QButtonGroup::idClicked, this, &PaletteStrip::groupPressed);
    place(1);
}

/// Names that do not fit above each other stand in two columns.
void PaletteStrip::place(int columns)
{
    if (columns == m_columns)
        return;
    m_columns = columns;
    delete layout();
    auto* across = new QHBoxLayout(this);
    across->setContentsMargins(5, 6, 5, 6);
    across->setSpacing(2);
    std::vector<QVBoxLayout*> parts;
    for (int column = 0; column < columns; ++column) {
        parts.push_back(new QVBoxLayout);
        parts.back()->setSpacing(2);
        across->addLayout(parts.back());
    }
    const auto buttons = m_buttons->buttons();
    const auto perColumn = (buttons.size() + columns - 1) / columns;
    for (qsizetype at = 0; at < buttons.size(); ++at)
        parts[static_cast<std::size_t>(at / perColumn)]->addWidget(
            buttons[at], buttons[at]->fontMetrics().horizontalAdvance(buttons[at]->text()));
    setFixedWidth(10 + columns * 30 + (columns - 1) * 2);
    updateGeometry();
}

void PaletteStrip::resizeEvent(QResizeEvent* event)
{
    Surface::resizeEvent(event);
    int wanted = 12;
    for (const auto* button : m_buttons->buttons())
        wanted += button->fontMetrics().horizontalAdvance(button->text()) + 6;
    place(wanted > height() ? 2 : 1);
}

void PaletteStrip::setOpen(int group)
{
    for (auto* button : m_buttons->buttons())
        button->setChecked(m_buttons->id(button) == group);
}

} // namespace mantissa::ui
