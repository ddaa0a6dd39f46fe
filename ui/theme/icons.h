#pragma once

#include <QColor>
#include <QIcon>
#include <QPixmap>

class QPainter;

namespace mantissa::ui {

/// Icons of resources/icons by file name, in one colour. Without a colour an icon follows theme and state.
QIcon icon(const QString& name, const QColor& colour = {});

/// Paints an icon; `hole` fills what is cut out of filled shapes (the panel's colour if invalid).
void paintIcon(QPainter& painter, const QRectF& rect, const QString& name, const QColor& colour,
               const QColor& hole = {});

} // namespace mantissa::ui
