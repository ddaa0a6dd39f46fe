#pragma once

#include "engine/core/result.h"
#include "ui/widgets/panels.h"

#include <string>
#include <vector>

class QVBoxLayout;

namespace mantissa {
struct Field;
}

namespace mantissa::ui {

class SetupDocument;

/// What the file cannot say about the user's module: a line a fact, answered or assumed; first those that
/// rules ask for, then, on request, all others that the table of fields has.
class FactsForm : public Surface {
    Q_OBJECT

public:
    explicit FactsForm(SetupDocument& document, QWidget* parent = nullptr);

signals:
    void done();
    void refused(const mantissa::Error& error); ///< What was typed does not fit.

protected:
    void showEvent(QShowEvent* event) override;

private:
    struct Fact {
        std::string path;
        QString statement;
        QString value; ///< Empty: assumed, or not asked for.
        int rules = 0; ///< That ask for it here.
        bool implied = false; ///< Follows from the model.
    };

    QWidget* makeHead();
    std::vector<Fact> asked() const;
    std::vector<Fact> others() const;
    void showFacts();
    void rebuild();
    QWidget* makeMore(std::size_t count);
    QWidget* makeRow(const Fact& fact);
    QWidget* makeAnswers(const Fact& fact, QWidget* parent);
    QWidget* makeHooks(const Field& field, QWidget* parent);
    void answer(const std::string& path, const QString& text);

    SetupDocument& m_document;
    bool m_all = false; ///< Also the facts that no rule asks for.
    ThemedLabel* m_summary = nullptr;
    QVBoxLayout* m_rows = nullptr;
    QWidget* m_inner = nullptr;
};

} // namespace mantissa::ui
