#pragma once

#include "engine/recipe/stage.h"

#include <QGraphicsView>

namespace mantissa::ui {

class StepScene;

/// Shows the step diagram. ← → follow the step, ↑ ↓ go to the facing stage, Enter opens the form, Delete
/// clears.
class StepView : public QGraphicsView {
    Q_OBJECT

public:
    explicit StepView(StepScene& scene, QWidget* parent = nullptr);

    void focusStage(Stage stage);
    StepScene& stepScene() const { return m_scene; }
    Stage currentStage() const { return m_current; }

signals:
    void openAsked(mantissa::Stage stage);
    void clearAsked(mantissa::Stage stage);

protected:
    void keyPressEvent(QKeyEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void focusInEvent(QFocusEvent* event) override;

private:
    void fit();
    void follow(int by);
    void cross();
    void announce();

    StepScene& m_scene;
    Stage m_current = Stage::Data;
    bool m_fitting = false;
};

} // namespace mantissa::ui
