#include "ui/widgets/rail.h"

#include "ui/theme/fonts.h"
#include "ui/theme/icons.h"
#include "ui/theme/style.h"

#include <QButtonGroup>
#include <QPainter>
#include <QVBoxLayout>

namespace mantissa::ui {
namespace {

constexpr int kItemHeight = 52;

class RailButton : public QAbstractButton {
public:
    RailButton(const QString& title, QString iconName, QWidget* parent)
        : QAbstractButton(parent), m_icon(std::move(iconName))
    {
        setText(title);
        setAccessibleName(title);
        setCheckable(true);
        setFont(uiFont(TextSize::Tiny, QFont::Medium));
        setAttribute(Qt::WA_Hover);
        setFocusPolicy(Qt::TabFocus);
    }

    QSize sizeHint() const override { return {64, std::max(kItemHeight, 34 + fontMetrics().height())}; }

protected:
    void paintEvent(QPaintEvent*) override
    {
        QPainter painter(this);
        const auto& colours = theme();
        const auto ink = isChecked() ? colours.accent : colours.text2;
        const QRectF box = QRectF(rect()).adjusted(1, 0, -1, 0);
        if (isChecked() || underMouse())
            paintBox(painter, box, isChecked() ? colours.accentWeak : colours.hover, Qt::NoPen);
        if (isChecked())
            paintBox(painter, QRectF(0, 10, 3, height() - 20), colours.accent, Qt::NoPen, 1.5);
        if (showsFocus(*this))
            paintFocusRing(painter, box.adjusted(2, 2, -2, -2), kRadius, 0.0);
        const double top = (height() - 20 - 3 - fontMetrics().height()) / 2.0;
        paintIcon(painter, QRectF((width() - 20) / 2.0, top, 20, 20), m_icon, ink, colours.window);
        painter.setPen(ink);
        painter.drawText(QRectF(0, top + 23, width(), fontMetrics().height()), Qt::AlignHCenter, text());
    }

private:
    QString m_icon;
};

} // namespace

Rail::Rail(QWidget* parent)
    : Surface(&Theme::window, Qt::RightEdge, parent), m_buttons(new QButtonGroup(this))
{
    setFixedWidth(72);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(4, 8, 4, 8);
    column->setSpacing(4);
    column->addStretch();
    m_buttons->setExclusive(true);
    connect(m_buttons, &QButtonGroup::idClicked, this, &Rail::pageChosen);
}

void Rail::addPage(const QString& title, const QString& iconName, bool atTheEnd)
{
    auto* column = static_cast<QVBoxLayout*>(layout());
    const int index = static_cast<int>(m_buttons->buttons().size());
    auto* button = new RailButton(title, iconName, this);
    button->setToolTip(tr("%1 (Ctrl+%2)").arg(title).arg(index + 1));
    m_buttons->addButton(button, index);
    if (atTheEnd)
        column->addWidget(button);
    else
        column->insertWidget(index, button);
}

void Rail::setCurrent(int index)
{
    if (auto* button = m_buttons->button(index))
        button->setChecked(true);
}

} // namespace mantissa::ui
