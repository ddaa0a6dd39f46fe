#pragma once

#include "engine/rules/finding.h"

#include <QWidget>

#include <vector>

class QGridLayout;
class QLabel;

namespace mantissa::ui {

class ElidedLabel;
class FixButton;

/// One finding: what will happen and where | what and why | fixes and Explain. Selected, its text wraps and
/// the fixes get a line of their own.
class FindingRow : public QWidget {
    Q_OBJECT

public:
    FindingRow(const Finding& finding, QWidget* parent = nullptr);

    void setSelected(bool selected);
    /// The first fix, or Explain where there is none.
    QWidget* firstAction() const;

signals:
    void selected();
    void fixPreviewed(int fix);
    void previewEnded();
    void fixChosen(int fix);
    void explainAsked();

protected:
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    QWidget* makeSeverity(const Finding& finding);
    void makeText(const Finding& finding);
    void makeActions(const Finding& finding);
    void arrange();

    bool m_selected = false;
    bool m_arrangedOwnLine = false;
    QGridLayout* m_grid = nullptr;
    QWidget* m_severity = nullptr;
    QWidget* m_brief = nullptr;
    QWidget* m_full = nullptr; ///< The message, wrapped.
    QWidget* m_reason = nullptr; ///< Why, and the source.
    QWidget* m_actions = nullptr;
    std::vector<QWidget*> m_buttons;
};

} // namespace mantissa::ui
