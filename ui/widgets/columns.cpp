#include "ui/widgets/columns.h"

#include <QLayout>
#include <QScrollArea>

namespace mantissa::ui {

QScrollArea* makeColumnScroll(QWidget* parent)
{
    auto* scroll = new QScrollArea(parent);
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setWidgetResizable(true);
    scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    scroll->setFocusPolicy(Qt::NoFocus);
    return scroll;
}

void emptyLayout(QLayout& layout)
{
    while (auto* item = layout.takeAt(0)) {
        if (auto* widget = item->widget()) {
            widget->hide();
            widget->deleteLater();
        }
        delete item;
    }
}

} // namespace mantissa::ui
