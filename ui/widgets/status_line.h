#pragma once

#include "ui/widgets/panels.h"

class QToolButton;

namespace mantissa::ui {

class ElidedLabel;
class EngineLoader;
class PillLabel;
class SetupDocument;

/// The bottom row: what the rules say about the open set-up, what was assumed, and which engine there is.
class StatusLine : public Surface {
    Q_OBJECT

public:
    StatusLine(SetupDocument& document, EngineLoader& engine, QWidget* parent = nullptr);

    /// Replaces the findings while a page has something else to say; empty brings them back.
    void setPageText(const QString& text);

    /// What is said in words; empty where the findings are counted.
    QString text() const;

signals:
    void factsAsked();

private:
    void showFindings();
    void showEngine();

    SetupDocument& m_document;
    EngineLoader& m_engine;
    QString m_pageText;
    QWidget* m_counts = nullptr;
    ElidedLabel* m_text = nullptr;
    QToolButton* m_facts = nullptr;
    ElidedLabel* m_engineText = nullptr;
};

} // namespace mantissa::ui
