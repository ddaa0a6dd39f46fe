#pragma once

#include "engine/recipe/field.h"
#include "engine/recipe/stage.h"

#include <QWidget>

#include <vector>

class QScrollArea;
class QVBoxLayout;
class QToolButton;

namespace mantissa::ui {

class FieldEditor;
class SetupDocument;
class ThemedLabel;

/// The settings of one stage, made from the table of fields: first those that this engine runs or that are
/// set, then, folded, those that are only checked.
class StageForm : public QWidget {
    Q_OBJECT

public:
    explicit StageForm(SetupDocument& document, QWidget* parent = nullptr);

    /// Shows that stage's settings and, where a path is given, puts the focus on it.
    void showStage(Stage stage, const QString& path = {});
    void focusFirst();
    Stage stage() const { return m_stage; }

signals:
    void errorRaised(const QString& message);

private:
    void rebuild();
    struct Heading {
        ThemedLabel* label = nullptr;
        std::vector<FieldEditor*> editors; ///< Under it.
    };

    std::vector<FieldEditor*> addGroups(const std::vector<const Field*>& fields);
    void showHeadings();
    FieldEditor* add(const Field& field);
    void addOwnNote();
    void addFolded(const std::vector<const Field*>& fields);
    bool isOffered(const Field& field) const;
    void showValues();
    void focusField(const QString& path);
    void reveal(bool more);

    SetupDocument& m_document;
    Stage m_stage = Stage::Forward;
    QScrollArea* m_scroll = nullptr;
    QWidget* m_fields = nullptr;
    QToolButton* m_more = nullptr;
    ThemedLabel* m_ownNote = nullptr;
    std::vector<FieldEditor*> m_editors;
    std::vector<FieldEditor*> m_folded;
    std::vector<Heading> m_headings;
};

} // namespace mantissa::ui
