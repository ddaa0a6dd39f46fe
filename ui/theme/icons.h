#pragma once

#include <QColor>
#include <QIcon>
#include <QPixmap>

class QPainter;

namespace mantissa::ui {

struct Theme;

/// Icons of resources/icons by file name, in one colour of the theme, whichever it is when they are painted.
/// Without a colour an icon follows its state too.
QIcon icon(const QString& name, QColor Theme::*colour = nullptr);
/// In this colour, for what is asked for anew at each painting.
QIcon icon(const QString& name, const QColor& colour);

/// Paints an icon; `hole` fills what is cut out of filled shapes (the panel's colour if invalid).
void paintIcon(QPainter& painter, const QRectF& rect, const QString& name, const QColor& colour,
               const QColor& hole = {});

} // namespace mantissa::ui
