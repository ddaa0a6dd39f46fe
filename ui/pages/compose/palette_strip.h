#pragma once

#include "ui/widgets/panels.h"

class QButtonGroup;

namespace mantissa::ui {

/// The palette of a narrow window: group names, upright; each opens its blocks in a flyout.
class PaletteStrip : public Surface {
    Q_OBJECT

public:
    explicit PaletteStrip(const QStringList& groups, QWidget* parent = nullptr);

    void setOpen(int group); ///< −1: none.

signals:
    void groupPressed(int group);

private:
    QButtonGroup* m_buttons = nullptr;
};

} // namespace mantissa::ui
