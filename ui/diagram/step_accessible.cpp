#include "ui/diagram/step_accessible.h"

#include "ui/diagram/stage_item.h"
#include "ui/diagram/step_scene.h"
#include "ui/diagram/step_view.h"

#include <QAccessibleWidget>

namespace mantissa::ui {
namespace {

StepView* viewOf(const StageItem& item)
{
    const auto views = item.scene() ? item.scene()->views() : QList<QGraphicsView*>();
    return views.isEmpty() ? nullptr : qobject_cast<StepView*>(views.front());
}

class StageAccessible : public QAccessibleInterface {
public:
    explicit StageAccessible(StageItem& item) : m_item(item) {}

    bool isValid() const override { return viewOf(m_item) != nullptr; }
    QObject* object() const override { return &m_item; }
    QAccessibleInterface* childAt(int, int) const override { return nullptr; }
    QAccessibleInterface* parent() const override
    {
        return QAccessible::queryAccessibleInterface(viewOf(m_item));
    }
    QAccessibleInterface* child(int) const override { return nullptr; }
    int childCount() const override { return 0; }
    int indexOfChild(const QAccessibleInterface*) const override { return -1; }
    QAccessible::Role role() const override { return QAccessible::ListItem; }
    void setText(QAccessible::Text, const QString&) override {}

    QString text(QAccessible::Text kind) const override
    {
        return kind == QAccessible::Name ? m_item.spokenName() : QString();
    }

    QRect rect() const override
    {
        const auto* view = viewOf(m_item);
        const auto box = view->mapFromScene(m_item.sceneBoundingRect()).boundingRect();
        return {view->viewport()->mapToGlobal(box.topLeft()), box.size()};
    }

    QAccessible::State state() const override
    {
        QAccessible::State state;
        state.focusable = true;
        state.focused = m_item.hasFocus();
        state.disabled = !m_item.shown().present;
        return state;
    }

private:
    StageItem& m_item;
};

class StepAccessible : public QAccessibleWidget {
public:
    explicit StepAccessible(StepView& view) : QAccessibleWidget(&view, QAccessible::List), m_view(view) {}

    int childCount() const override { return static_cast<int>(kCardStages.size()); }

    QAccessibleInterface* child(int index) const override
    {
        if (index < 0 || index >= childCount())
            return nullptr;
        return QAccessible::queryAccessibleInterface(
            &m_view.stepScene().stage(kCardStages[static_cast<std::size_t>(index)]));
    }

    int indexOfChild(const QAccessibleInterface* child) const override
    {
        const auto* item = qobject_cast<const StageItem*>(child->object());
        return item ? static_cast<int>(item->stage()) - static_cast<int>(Stage::Data) : -1;
    }

    QAccessibleInterface* focusChild() const override
    {
        return QAccessible::queryAccessibleInterface(&m_view.stepScene().stage(m_view.currentStage()));
    }

private:
    StepView& m_view;
};

} // namespace

QAccessibleInterface* makeStepAccessible(const QString&, QObject* object)
{
    if (auto* view = qobject_cast<StepView*>(object))
        return new StepAccessible(*view);
    if (auto* item = qobject_cast<StageItem*>(object))
        return new StageAccessible(*item);
    return nullptr;
}

} // namespace mantissa::ui
