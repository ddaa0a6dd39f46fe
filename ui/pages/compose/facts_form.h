#pragma once

#include "ui/widgets/panels.h"

class QVBoxLayout;

namespace mantissa::ui {

class SetupDocument;

/// What the file cannot say about the user's module: a line a fact that some rule asks for, answered or
/// assumed.
class FactsForm : public Surface {
    Q_OBJECT

public:
    explicit FactsForm(SetupDocument& document, QWidget* parent = nullptr);

signals:
    void done();

private:
    struct Fact {
        std::string path;
        QString statement;
        QString value; ///< Empty: assumed.
        int rules = 0;
    };

    std::vector<Fact> facts() const;
    void rebuild();
    QWidget* makeRow(const Fact& fact);
    QWidget* makeAnswers(const Fact& fact, QWidget* parent);
    void answer(const std::string& path, const QString& text);

    SetupDocument& m_document;
    ThemedLabel* m_summary = nullptr;
    QVBoxLayout* m_rows = nullptr;
    QWidget* m_inner = nullptr;
};

} // namespace mantissa::ui
