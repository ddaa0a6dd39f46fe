#pragma once

#include "engine/rules/finding.h"

#include <QAbstractButton>
#include <QTimer>

namespace mantissa::ui {

/// A fix: title, then a divided tag with its grade or its price. The wand stands on safe ones only.
/// Hovering or focusing it asks for a preview after a moment; leaving ends it.
class FixButton : public QAbstractButton {
    Q_OBJECT

public:
    explicit FixButton(const Fix& fix, QWidget* parent = nullptr);

    QSize sizeHint() const override;
    QSize minimumSizeHint() const override { return sizeHint(); }

signals:
    void previewStarted();
    void previewEnded();

protected:
    void paintEvent(QPaintEvent* event) override;
    void enterEvent(QEnterEvent* event) override;
    void leaveEvent(QEvent* event) override;
    void focusInEvent(QFocusEvent* event) override;
    void focusOutEvent(QFocusEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;

private:
    void start();
    void end();

    bool m_safe;
    bool m_previewing = false;
    QString m_tag;
    QTimer m_delay;
};

/// "safe", "changes numerics", "manual".
QString gradeText(FixGrade grade);

} // namespace mantissa::ui
