#pragma once

#include <array>
#include <charconv>
#include <string>

namespace mantissa {

/// A number as text that gives the same bits back: JSON has neither NaN nor infinity.
inline std::string exactText(double number)
{
    std::array<char, 32> text{};
    const auto end = std::to_chars(text.data(), text.data() + text.size(), number);
    return {text.data(), end.ptr};
}

inline double exactNumber(const std::string& text)
{
    return std::stod(text);
}

} // namespace mantissa
