#pragma once

#include <QString>

namespace mantissa::ui {

/// A round number on an axis: "0.1", "1.5e-4", "20,000".
QString tickText(double value);
/// "2¹⁶"
QString powerText(int base, int exponent);

} // namespace mantissa::ui
