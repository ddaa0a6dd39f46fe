#include "ui/plot/plot_panel.h"
#include "ui/plot/run_plot.h"
#include "ui/theme/theme.h"

#include <QKeyEvent>
#include <QLabel>
#include <QPainter>

#include <cmath>

namespace mantissa::ui {
namespace {

constexpr double kZoomStep = 1.25;
constexpr int kManyPoints = 10;

} // namespace

void RunPlot::changeEvent(QEvent* event)
{
    QWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange || event->type() == QEvent::StyleChange)
        recolour();
}

void RunPlot::resizeEvent(QResizeEvent* event)
{
    QWidget::resizeEvent(event);
    m_empty->setGeometry(rect().adjusted(40, 40, -40, -40));
    if (isLow() != m_folded)
        buildPanels();
    redraw();
}

void RunPlot::paintEvent(QPaintEvent* event)
{
    QWidget::paintEvent(event);
    if (!m_ring)
        return;
    QPainter painter(this);
    painter.setPen(QPen(theme().accent, 2));
    painter.drawRect(rect().adjusted(1, 1, -1, -1));
}

void RunPlot::focusInEvent(QFocusEvent* event)
{
    m_ring = event->reason() == Qt::TabFocusReason || event->reason() == Qt::BacktabFocusReason
        || event->reason() == Qt::ShortcutFocusReason;
    update();
    QWidget::focusInEvent(event);
}

void RunPlot::focusOutEvent(QFocusEvent* event)
{
    m_ring = false;
    update();
    QWidget::focusOutEvent(event);
}

void RunPlot::keyPressEvent(QKeyEvent* event)
{
    const int points = event->modifiers().testFlag(Qt::ShiftModifier) ? kManyPoints : 1;
    const double around = cursorStep().value_or((m_from + m_to) / 2.0);
    switch (event->key()) {
    case Qt::Key_Left:
        moveCursor(-points);
        return;
    case Qt::Key_Right:
        moveCursor(points);
        return;
    case Qt::Key_Plus:
    case Qt::Key_Equal:
        zoom(1.0 / kZoomStep, around);
        return;
    case Qt::Key_Minus:
        zoom(kZoomStep, around);
        return;
    case Qt::Key_0:
        showEverything();
        return;
    case Qt::Key_F:
        setFollowing(!isFollowing());
        return;
    case Qt::Key_N:
        goToNextMark();
        return;
    case Qt::Key_Escape:
        if (m_cursorStep) {
            hideCursor();
            return;
        }
        break;
    default:
        break;
    }
    QWidget::keyPressEvent(event);
}

bool RunPlot::eventFilter(QObject* watched, QEvent* event)
{
    switch (event->type()) {
    case QEvent::Wheel: {
        const auto* wheel = static_cast<QWheelEvent*>(event);
        const double notches = wheel->angleDelta().y() / 120.0;
        zoom(std::pow(kZoomStep, -notches), stepAt(wheel->position().x()));
        return true;
    }
    case QEvent::MouseButtonPress: {
        const auto* mouse = static_cast<QMouseEvent*>(event);
        if (mouse->button() != Qt::LeftButton)
            break;
        setFocus(Qt::MouseFocusReason);
        m_dragX = mouse->pos().x();
        return true;
    }
    case QEvent::MouseButtonRelease:
        m_dragX.reset();
        return true;
    case QEvent::MouseButtonDblClick:
        showEverything();
        return true;
    case QEvent::MouseMove:
        return dragOrHover(static_cast<QMouseEvent*>(event)->pos());
    case QEvent::Leave:
        if (!m_cursorByKey)
            hideCursor();
        break;
    default:
        break;
    }
    return QWidget::eventFilter(watched, event);
}

bool RunPlot::dragOrHover(const QPoint& at)
{
    if (m_dragX) {
        const double by = stepAt(*m_dragX) - stepAt(at.x());
        m_dragX = at.x();
        if (!m_everything)
            showSteps(m_from + by, m_to + by);
        return true;
    }
    const auto& panel = m_panels.front()->rect().rect();
    if (at.x() >= panel.left() && at.x() <= panel.right()) {
        m_cursorByKey = false;
        setCursorNear(stepAt(at.x()));
    }
    return true;
}

} // namespace mantissa::ui
