#pragma once

#include "ui/widgets/panels.h"

class QComboBox;
class QPushButton;
class QToolButton;

namespace mantissa::ui {

class ElidedLabel;
class EngineLoader;
class PillLabel;
class SetupDocument;

/// The header of Compose: which set-up, for which target, both verdicts, fixes and the start.
class DocumentHeader : public PageHeader {
    Q_OBJECT

public:
    DocumentHeader(SetupDocument& document, EngineLoader& engine, QWidget* parent = nullptr);

    /// Why the set-up cannot be started now; empty where it can.
    QString startHindrance() const;
    QWidget* startButton() const;
    void setRunning(bool running);

signals:
    void fixAllAsked();
    void startAsked();

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    void addDocument();
    void addTarget();
    void addActions();
    void showDocument();
    void showTarget();
    void showVerdicts();
    void showStart();
    int safeFixes() const;

    SetupDocument& m_document;
    EngineLoader& m_engine;
    bool m_running = false;
    ElidedLabel* m_name = nullptr;
    ThemedLabel* m_modified = nullptr;
    QComboBox* m_target = nullptr;
    PillLabel* m_onTarget = nullptr;
    PillLabel* m_here = nullptr;
    QPushButton* m_fixAll = nullptr;
    QPushButton* m_start = nullptr;
};

} // namespace mantissa::ui
