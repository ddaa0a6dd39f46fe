#pragma once

#include "engine/recipe/presets.h"
#include "ui/widgets/panels.h"

namespace mantissa::ui {

/// What Compose shows before there is a set-up: presets that work, presets that fail on purpose, opening a
/// file.
class StartArea : public Surface {
    Q_OBJECT

public:
    explicit StartArea(QWidget* parent = nullptr);

signals:
    void presetChosen(const mantissa::Preset& preset);
    void openAsked();

private:
    QWidget* makePresets(bool good);
    QWidget* makeDropZone();
};

} // namespace mantissa::ui
