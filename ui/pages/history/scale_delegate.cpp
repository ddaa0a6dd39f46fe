#include "ui/pages/history/scale_delegate.h"

#include "ui/models/runs_model.h"
#include "ui/theme/theme.h"

#include <QPainter>

#include <algorithm>
#include <cmath>

namespace mantissa::ui {

void ScaleDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option,
                          const QModelIndex& index) const
{
    RowDelegate::paint(painter, option, index);
    const auto values = index.data(RunsModel::kScaleRole).value<QList<double>>();
    if (values.size() < 2)
        return;
    const auto [least, most] = std::minmax_element(values.begin(), values.end());
    if (*least <= 0.0)
        return;
    const double low = std::log2(*least);
    const double span = std::max(1.0, std::log2(*most) - low);
    const auto room = QRectF(option.rect).adjusted(4, 7, -6, -7);
    QPolygonF line;
    for (qsizetype at = 0; at < values.size(); ++at) {
        const double x =
            room.left() + room.width() * static_cast<double>(at) / static_cast<double>(values.size() - 1);
        const double y = room.bottom() - room.height() * (std::log2(values[at]) - low) / span;
        if (!line.isEmpty())
            line << QPointF(x, line.last().y());
        line << QPointF(x, y);
    }
    painter->save();
    painter->setPen(QPen(seriesColour(theme(), 0), 1.2));
    painter->drawPolyline(line);
    painter->restore();
}

} // namespace mantissa::ui
