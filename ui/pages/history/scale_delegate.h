#pragma once

#include "ui/widgets/plain_table.h"

namespace mantissa::ui {

/// Draws a run's loss scale as a small stepped line on a logarithmic axis.
class ScaleDelegate : public RowDelegate {
    Q_OBJECT

public:
    using RowDelegate::RowDelegate;

    void paint(QPainter* painter, const QStyleOptionViewItem& option,
               const QModelIndex& index) const override;
};

} // namespace mantissa::ui
