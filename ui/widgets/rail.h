#pragma once

#include "ui/widgets/panels.h"

#include <QAbstractButton>
#include <QVector>

class QButtonGroup;

namespace mantissa::ui {

/// The column of pages at the left of the window.
class Rail : public Surface {
    Q_OBJECT

public:
    explicit Rail(QWidget* parent = nullptr);

    void addPage(const QString& title, const QString& iconName, bool atTheEnd = false);
    void setCurrent(int index);

signals:
    void pageChosen(int index);

private:
    QButtonGroup* m_buttons = nullptr;
};

} // namespace mantissa::ui
