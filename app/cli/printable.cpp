#include "app/cli/printable.h"

#include <array>
#include <cstdint>
#include <cstdio>

namespace mantissa::cli {
namespace {

struct CodePoint {
    std::uint32_t value = 0;
    std::size_t bytes = 0; ///< 0: no UTF-8 begins here.
};

CodePoint codePointAt(std::string_view text)
{
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const unsigned char first = byte(0);
    if (first < 0x80)
        return {first, 1};
    const std::size_t length = first >= 0xF0 && first < 0xF5 ? 4 : first >= 0xE0 ? 3 : first >= 0xC2 ? 2 : 0;
    if (length == 0 || first >= 0xF5 || text.size() < length)
        return {};
    std::uint32_t value = first & (0xFFu >> (length + 1));
    for (std::size_t i = 1; i < length; ++i) {
        if ((byte(i) & 0xC0) != 0x80)
            return {};
        value = value << 6 | (byte(i) & 0x3Fu);
    }
    constexpr std::array<std::uint32_t, 5> kLeast = {0, 0, 0x80, 0x800, 0x10000};
    const bool isSurrogate = value >= 0xD800 && value <= 0xDFFF;
    return value < kLeast[length] || value > 0x10FFFF || isSurrogate ? CodePoint{} : CodePoint{value, length};
}

bool isHarmful(std::uint32_t value)
{
    const bool isControl = value < 0x20 || (value >= 0x7F && value < 0xA0);
    const bool turnsWriting = (value >= 0x200B && value <= 0x200F) || (value >= 0x2028 && value <= 0x202E)
        || (value >= 0x2060 && value <= 0x206F) || value == 0xFEFF;
    return isControl || turnsWriting;
}

std::string escapeOf(std::uint32_t value)
{
    if (value == '\n' || value == '\t' || value == '\r')
        return value == '\n' ? "\\n" : value == '\t' ? "\\t" : "\\r";
    std::array<char, 16> text = {};
    std::snprintf(text.data(), text.size(), value < 0x100 ? "\\x%02x" : "\\u%04x", value);
    return text.data();
}

std::string escaped(std::string_view text, bool keepLines)
{
    std::string shown;
    for (std::size_t i = 0; i < text.size();) {
        const auto point = codePointAt(text.substr(i));
        const std::size_t bytes = point.bytes == 0 ? 1 : point.bytes;
        const bool stays = point.bytes > 0 && (!isHarmful(point.value) || (keepLines && point.value == '\n'));
        if (stays)
            shown += text.substr(i, bytes);
        else
            shown += escapeOf(point.bytes == 0 ? static_cast<unsigned char>(text[i]) : point.value);
        i += bytes;
    }
    return shown;
}

} // namespace

std::string printable(std::string_view text)
{
    return escaped(text, false);
}

std::string printableLines(std::string_view text)
{
    return escaped(text, true);
}

std::string cutTo(std::string_view text, std::size_t most)
{
    std::size_t points = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const bool begins = (static_cast<unsigned char>(text[i]) & 0xC0) != 0x80;
        points += begins ? 1 : 0;
        if (begins && points == most)
            for (std::size_t j = i + 1; j < text.size(); ++j)
                if ((static_cast<unsigned char>(text[j]) & 0xC0) != 0x80)
                    return std::string(text.substr(0, i)) + "…";
    }
    return std::string(text);
}

} // namespace mantissa::cli
