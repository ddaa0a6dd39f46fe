#pragma once

#include <QString>

class QPainter;
class QRectF;

namespace mantissa::ui {

/// How a setting looks as a chip: somebody set it, it is a default, it goes away in the preview, it is new
/// there, or the target refuses it.
enum class ChipLook { Set, Default, Ghost, New, Refused };

constexpr double kChipHeight = 20.0;

double chipWidth(const QString& text);
/// Elides the text where the rectangle is too narrow.
void paintChip(QPainter& painter, const QRectF& rect, const QString& text, ChipLook look);

} // namespace mantissa::ui
