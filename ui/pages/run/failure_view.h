#pragma once

#include "ui/pages/run/run_failure.h"
#include "ui/widgets/panels.h"

namespace mantissa::ui {

class EventsModel;
class StepScene;

/// Where a run ended: the step with the stage marked, and what happened before.
class FailureView : public Surface {
    Q_OBJECT

public:
    explicit FailureView(EventsModel& events, QWidget* parent = nullptr);

    void setFailure(const RunFailure& failure);
    StepScene& scene() { return *m_scene; }
    QString place() const { return m_place->text(); }

protected:
    void changeEvent(QEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    QWidget* makeLog(EventsModel& events);

    RunFailure m_failure;
    ThemedLabel* m_place = nullptr;
    QWidget* m_log = nullptr;
    StepScene* m_scene = nullptr;
};

} // namespace mantissa::ui
