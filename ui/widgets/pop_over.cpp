#include "ui/widgets/pop_over.h"

#include "ui/theme/style.h"
#include "ui/widgets/columns.h"

#include <QApplication>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QVBoxLayout>

namespace mantissa::ui {
namespace {

constexpr int kShadow = 6;

} // namespace

PopOver::PopOver(QWidget* page) : QWidget(page), m_column(new QVBoxLayout(this))
{
    m_column->setContentsMargins(12 + kShadow, 10 + kShadow, 12 + kShadow, 10 + kShadow);
    m_column->setSpacing(6);
    setFocusPolicy(Qt::StrongFocus);
    hide();
}

void PopOver::clear()
{
    emptyLayout(*m_column);
}

void PopOver::fitWidth()
{
    setFixedWidth(300 + 2 * kShadow);
    const int height =
        m_column->hasHeightForWidth() ? m_column->heightForWidth(width()) : m_column->sizeHint().height();
    resize(width(), std::min(height, parentWidget()->height() - 16));
}

void PopOver::open(QPoint corner)
{
    m_before = QApplication::focusWidget();
    corner.setX(std::clamp(corner.x(), 0, std::max(0, parentWidget()->width() - width())));
    corner.setY(std::clamp(corner.y(), 0, std::max(0, parentWidget()->height() - height())));
    move(corner);
    show();
    raise();
    setFocus(Qt::PopupFocusReason);
    qApp->installEventFilter(this);
}

void PopOver::showBeside(QWidget* anchor)
{
    fitWidth();
    auto corner = anchor->mapTo(parentWidget(), QPoint(anchor->width() + 4, -8));
    if (corner.x() + width() > parentWidget()->width())
        corner = anchor->mapTo(parentWidget(), QPoint(-width() - 4, -8));
    open(corner);
}

void PopOver::showBelow(QWidget* anchor)
{
    fitWidth();
    open(anchor->mapTo(parentWidget(), QPoint(anchor->width() - width() + kShadow, anchor->height())));
}

void PopOver::showCentred(QSize size)
{
    setMinimumWidth(0);
    setMaximumWidth(QWIDGETSIZE_MAX);
    resize(size.boundedTo(parentWidget()->size() - QSize(32, 32)));
    open({(parentWidget()->width() - width()) / 2, (parentWidget()->height() - height()) / 2});
}

void PopOver::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    for (int i = 0; i < kShadow; ++i) {
        auto shade = theme().shadow;
        shade.setAlpha(shade.alpha() / kShadow);
        paintBox(painter, QRectF(rect()).adjusted(i, i + 1, -i, -i + 1), shade, Qt::NoPen,
                 kRadius + kShadow - i);
    }
    paintBox(painter, QRectF(rect()).adjusted(kShadow, kShadow, -kShadow, -kShadow), theme().raised,
             theme().borderStrong);
}

void PopOver::keyPressEvent(QKeyEvent* event)
{
    if (event->key() == Qt::Key_Escape)
        hide();
    else if (event->key() == Qt::Key_Down)
        focusNextChild();
    else
        QWidget::keyPressEvent(event);
}

bool PopOver::eventFilter(QObject* watched, QEvent* event)
{
    // A press elsewhere closes it and still does what it was meant for.
    if (event->type() == QEvent::MouseButtonPress) {
        const auto* widget = qobject_cast<QWidget*>(watched);
        if (widget && widget->window() == window() && widget != this && !isAncestorOf(widget))
            hide();
    }
    return QWidget::eventFilter(watched, event);
}

void PopOver::hideEvent(QHideEvent*)
{
    qApp->removeEventFilter(this);
    if (m_before && (QApplication::focusWidget() == this || isAncestorOf(QApplication::focusWidget())))
        m_before->setFocus(Qt::PopupFocusReason);
}

} // namespace mantissa::ui
