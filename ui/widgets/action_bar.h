#pragma once

#include "ui/widgets/tone.h"

#include <QWidget>

class QHBoxLayout;
class QLabel;
class QPushButton;

namespace mantissa::ui {

/// A bar across a page that says something and offers what can be done about it. No modal box.
class ActionBar : public QWidget {
    Q_OBJECT

public:
    explicit ActionBar(Tone tone, QWidget* parent = nullptr);

    void setTexts(const QString& title, const QString& detail);
    QString title() const;
    QString detail() const;
    /// `iconName` may be empty. The first button added is the one that Enter presses.
    QPushButton* addButton(const QString& text, const QString& iconName, bool primary);

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    Tone m_tone;
    QLabel* m_title = nullptr;
    QLabel* m_detail = nullptr;
    QHBoxLayout* m_buttons = nullptr;
};

} // namespace mantissa::ui
