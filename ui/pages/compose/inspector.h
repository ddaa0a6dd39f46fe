#pragma once

#include "engine/recipe/stage.h"
#include "ui/widgets/panels.h"

class QStackedWidget;
class QTabBar;

namespace mantissa {
struct StepPlan;
class Setup;
} // namespace mantissa

namespace mantissa::ui {

class EffectiveModel;
class MemoryPanel;
class SetupDocument;
class StageForm;
class YamlEditor;

/// What stands beside the diagram: the form of a stage, requested and effective settings, the
/// memory of a rank, the YAML.
class Inspector : public Surface {
    Q_OBJECT

public:
    explicit Inspector(SetupDocument& document, QWidget* parent = nullptr);

    StageForm& form() { return *m_form; }
    void openStage(Stage stage, const QString& path = {});
    void openYaml();
    /// Shows the effective settings and the memory as a fix would make them; null brings back those that are.
    void preview(const Setup* after, const StepPlan* plan, const QString& title);

signals:
    void goBackAsked(); ///< To the last text that could be read.

private:
    enum Tab { StageTab, EffectiveTab, MemoryTab, YamlTab };

    QWidget* makeEffective();
    QWidget* makeYaml();
    void showDocument();

    SetupDocument& m_document;
    QTabBar* m_tabs = nullptr;
    QStackedWidget* m_stack = nullptr;
    StageForm* m_form = nullptr;
    YamlEditor* m_yaml = nullptr;
    EffectiveModel* m_effective = nullptr;
    MemoryPanel* m_memory = nullptr;
    ThemedLabel* m_previewed = nullptr;
    Surface* m_failure = nullptr;
    ThemedLabel* m_failurePlace = nullptr;
    ThemedLabel* m_failureText = nullptr;
};

} // namespace mantissa::ui
