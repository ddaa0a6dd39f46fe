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
    setFixedWidth(40);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(5, 6, 5, 6);
    column->setSpacing(2);
    m_buttons->setExclusive(false);
    for (const auto& group : groups) {
        auto* button = new UprightButton(group, this);
        m_buttons->addButton(button, static_cast<int>(m_buttons->buttons().size()));
        column->addWidget(button, button->fontMetrics().horizontalAdvance(group));
    }
    connect(m_buttons, &QButtonGroup::idClicked, this, &PaletteStrip::groupPressed);
}

void PaletteStrip::setOpen(int group)
{
    for (auto* button : m_buttons->buttons())
        button->setChecked(m_buttons->id(button) == group);
}

} // namespace mantissa::ui
