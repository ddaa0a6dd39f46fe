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

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    void place(int columns);

    QButtonGroup* m_buttons = nullptr;
    int m_columns = 0;
};

} // namespace mantissa::ui
