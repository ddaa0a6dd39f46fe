#pragma once

#include "ui/widgets/panels.h"

namespace mantissa::ui {

/// Above the diagram: its title, how ranks are shown, and what colours and dashes mean.
class DiagramBar : public Surface {
    Q_OBJECT

public:
    explicit DiagramBar(QWidget* parent = nullptr);

    void setWorldSize(int ranks);

signals:
    void unfoldedChanged(bool unfolded);

private:
    QWidget* m_segments = nullptr;
};

} // namespace mantissa::ui
