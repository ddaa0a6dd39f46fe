#pragma once

#include "engine/recipe/presets.h"
#include "ui/widgets/tone.h"

#include <QAbstractButton>

namespace mantissa::ui {

/// A preset as a card to press: name, what it shows, and the verdict of the rules.
class PresetCard : public QAbstractButton {
    Q_OBJECT

public:
    explicit PresetCard(const Preset& preset, QWidget* parent = nullptr);

    QSize sizeHint() const override { return {220, 116}; }
    QSize minimumSizeHint() const override { return {200, 116}; }
    bool hasHeightForWidth() const override { return true; }
    int heightForWidth(int width) const override;

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    QString m_sentence;
    QString m_verdict;
    Tone m_tone = Tone::Ok;
};

} // namespace mantissa::ui
