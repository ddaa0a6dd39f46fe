#include "ui/diagram/step_view.h"

#include "ui/diagram/stage_item.h"
#include "ui/diagram/step_accessible.h"
#include "ui/diagram/step_scene.h"

#include <QAccessible>
#include <QKeyEvent>
#include <QScopedValueRollback>

#include <algorithm>

namespace mantissa::ui {
namespace {

constexpr double kLeastZoom = 0.6;

} // namespace

StepView::StepView(StepScene& scene, QWidget* parent) : QGraphicsView(&scene, parent), m_scene(scene)
{
    setFrameShape(QFrame::NoFrame);
    setRenderHint(QPainter::Antialiasing);
    setAlignment(Qt::AlignLeft | Qt::AlignTop);
    setViewportUpdateMode(FullViewportUpdate);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAsNeeded);
    setAccessibleName(tr("Step diagram"));
    QAccessible::installFactory(makeStepAccessible);
    connect(&scene, &StepScene::sceneRectChanged, this, [this] {
        if (!m_fitting)
            fit();
    });
    connect(&scene, &StepScene::stageFocused, this, [this](Stage stage) {
        m_current = stage;
        announce();
    });
}

void StepView::focusStage(Stage stage)
{
    if (!isCard(stage))
        return;
    m_current = stage;
    setFocus(Qt::OtherFocusReason);
    m_scene.stage(stage).setFocus(Qt::OtherFocusReason);
    ensureVisible(&m_scene.stage(stage), 8, 8);
}

void StepView::keyPressEvent(QKeyEvent* event)
{
    switch (event->key()) {
    case Qt::Key_Right:
        return follow(1);
    case Qt::Key_Left:
        return follow(-1);
    case Qt::Key_Up:
    case Qt::Key_Down:
        return cross();
    case Qt::Key_Return:
    case Qt::Key_Enter:
    case Qt::Key_Space:
        emit openAsked(m_current);
        return;
    case Qt::Key_Delete:
        emit clearAsked(m_current);
        return;
    default:
        QGraphicsView::keyPressEvent(event);
    }
}

void StepView::follow(int by)
{
    const int count = static_cast<int>(kCardStages.size());
    const int index = static_cast<int>(m_current) - static_cast<int>(Stage::Data);
    focusStage(kCardStages[static_cast<std::size_t>((index + by + count) % count)]);
}

void StepView::cross()
{
    const auto from = m_scene.stage(m_current).sceneBoundingRect().center();
    const StageItem* nearest = nullptr;
    for (const auto stage : kCardStages) {
        const auto& item = m_scene.stage(stage);
        if (isUpper(stage) == isUpper(m_current))
            continue;
        const auto distance = [&](const StageItem& candidate) {
            return std::abs(candidate.sceneBoundingRect().center().x() - from.x());
        };
        if (!nearest || distance(item) < distance(*nearest))
            nearest = &item;
    }
    focusStage(nearest->stage());
}

void StepView::resizeEvent(QResizeEvent* event)
{
    QGraphicsView::resizeEvent(event);
    fit();
}

/// A little too narrow or too low, everything is drawn smaller; below that the view scrolls.
void StepView::fit()
{
    // The scroll bars' own room is not counted, or they would come and go.
    const QScopedValueRollback fitting(m_fitting, true);
    const QSizeF room = maximumViewportSize();
    m_scene.setViewSize(room);
    const auto wanted = m_scene.sceneRect().size();
    const double share = std::min(room.width() / wanted.width(), room.height() / wanted.height());
    const double zoom = std::clamp(share, kLeastZoom, 1.0);
    if (zoom < 1.0)
        m_scene.setViewSize(room / zoom);
    setTransform(QTransform::fromScale(zoom, zoom));
}

void StepView::focusInEvent(QFocusEvent* event)
{
    QGraphicsView::focusInEvent(event);
    if (event->reason() != Qt::MouseFocusReason)
        m_scene.stage(m_current).setFocus(event->reason());
}

void StepView::announce()
{
    QAccessibleEvent focus(&m_scene.stage(m_current), QAccessible::Focus);
    QAccessible::updateAccessibility(&focus);
}

} // namespace mantissa::ui
