#pragma once

#include "ui/widgets/tone.h"

#include <QWidget>

namespace mantissa::ui {

/// A rounded label with shape, words and colour of one tone. Elides when there is no room; the tool tip has
/// it all.
class PillLabel : public QWidget {
    Q_OBJECT

public:
    explicit PillLabel(QWidget* parent = nullptr);

    /// `iconName` replaces the tone's own icon.
    void setContent(Tone tone, const QString& text, const QString& iconName = {});
    QString text() const { return m_text; }
    Tone tone() const { return m_tone; }

    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    QString m_text;
    QString m_icon;
    Tone m_tone = Tone::Neutral;
};

} // namespace mantissa::ui
