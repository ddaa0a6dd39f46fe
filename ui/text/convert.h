#pragma once

#include <QString>

#include <string_view>

namespace mantissa::ui {

/// UTF-8 of the engine as a Qt string.
inline QString toQt(std::string_view text)
{
    return QString::fromUtf8(text.data(), static_cast<qsizetype>(text.size()));
}

} // namespace mantissa::ui
