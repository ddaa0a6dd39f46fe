#include "ui/widgets/segments.h"

#include "ui/theme/fonts.h"
#include "ui/theme/style.h"

#include <QAbstractButton>
#include <QButtonGroup>
#include <QHBoxLayout>
#include <QPainter>
#include <QPainterPath>

namespace mantissa::ui {
namespace {

class Segment : public QAbstractButton {
public:
    explicit Segment(const QString& title, QWidget* parent) : QAbstractButton(parent)
    {
        setText(title);
        setCheckable(true);
        setFont(uiFont(TextSize::Small, QFont::Medium));
        setAttribute(Qt::WA_Hover);
        setFocusPolicy(Qt::StrongFocus);
        setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
    }

    QSize sizeHint() const override
    {
        return {fontMetrics().horizontalAdvance(text()) + 18, std::max(24, fontMetrics().height() + 8)};
    }

protected:
    void paintEvent(QPaintEvent*) override
    {
        QPainter painter(this);
        const auto& colours = theme();
        painter.setClipPath([this] {
            QPainterPath path;
            path.addRoundedRect(parentWidget()->rect().translated(-pos()).adjusted(1, 1, -1, -1), kRadius - 1,
                                kRadius - 1);
            return path;
        }());
        if (isChecked() || underMouse())
            painter.fillRect(rect(), isChecked() ? colours.accentWeak : colours.hover);
        if (x() > 0)
            painter.fillRect(0, 0, 1, height(), colours.border);
        painter.setClipping(false);
        painter.setPen(isChecked() ? colours.accent : colours.text2);
        painter.drawText(rect(), Qt::AlignCenter, text());
        if (showsFocus(*this))
            paintFocusRing(painter, QRectF(rect()).adjusted(3, 3, -3, -3), 3, 0);
    }
};

} // namespace

Segments::Segments(const QStringList& titles, QWidget* parent) : QWidget(parent)
{
    setSizePolicy(QSizePolicy::Maximum, QSizePolicy::Fixed);
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(0);
    auto* group = new QButtonGroup(this);
    for (const auto& title : titles) {
        auto* button = new Segment(title, this);
        group->addButton(button, static_cast<int>(m_buttons.size()));
        row->addWidget(button);
        m_buttons.push_back(button);
    }
    if (!m_buttons.empty())
        m_buttons.front()->setChecked(true);
    connect(group, &QButtonGroup::idClicked, this, &Segments::chosen);
}

int Segments::current() const
{
    for (std::size_t i = 0; i < m_buttons.size(); ++i)
        if (m_buttons[i]->isChecked())
            return static_cast<int>(i);
    return -1;
}

void Segments::setCurrent(int index)
{
    m_buttons.at(static_cast<std::size_t>(index))->setChecked(true);
}

void Segments::setText(int index, const QString& text)
{
    m_buttons.at(static_cast<std::size_t>(index))->setText(text);
    m_buttons.at(static_cast<std::size_t>(index))->updateGeometry();
}

void Segments::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    paintBox(painter, rect(), theme().raised, theme().borderStrong);
}

} // namespace mantissa::ui
