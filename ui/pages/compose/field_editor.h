#pragma once

#include "engine/recipe/field.h"
#include "engine/recipe/setup.h"
#include "engine/rules/finding.h"

#include <QWidget>

#include <vector>

class QComboBox;
class QHBoxLayout;
class QLabel;
class QLineEdit;
class QToolButton;

namespace mantissa::ui {

class ThemedLabel;

/// One setting in a form: label, editor made from its descriptor, default shown as default, help, findings.
class FieldEditor : public QWidget {
    Q_OBJECT

public:
    FieldEditor(const Field& field, QWidget* parent = nullptr);

    const Field& field() const { return m_field; }
    void showValue(const Setup& setup, const std::vector<Finding>& findings);
    QWidget* editor() const;

    /// What the text means for a field, or why it does not fit. Absent for an empty text.
    static Result<Value> valueOf(const Field& field, const QString& text);

signals:
    void valueChosen(const mantissa::Field& field, const mantissa::Value& value);
    void resetAsked(const mantissa::Field& field);

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;
    void paintEvent(QPaintEvent* event) override;

private:
    QHBoxLayout* makeHead();
    QHBoxLayout* makeLine();
    void makeEditor();
    void commit(const QString& text);
    void showFindings(const std::vector<Finding>& findings);
    void showDefault(const Value& value);

    const Field& m_field;
    QString m_shown;
    bool m_isSet = false;
    int m_worst = -1; ///< Severity of the worst finding here, -1: none.
    QComboBox* m_choice = nullptr;
    QLineEdit* m_line = nullptr;
    QToolButton* m_reset = nullptr;
    ThemedLabel* m_label = nullptr;
    ThemedLabel* m_problem = nullptr;
    QWidget* m_findings = nullptr;
};

} // namespace mantissa::ui
