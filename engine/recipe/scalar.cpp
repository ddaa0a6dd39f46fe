#include "engine/recipe/scalar.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <system_error>

namespace mantissa {

namespace {

bool isDigit(char c)
{
    return c >= '0' && c <= '9';
}

bool contains(std::initializer_list<std::string_view> words, std::string_view text)
{
    return std::find(words.begin(), words.end(), text) != words.end();
}

std::string withoutUnderscores(std::string_view text)
{
    std::string plain(text);
    std::erase(plain, '_');
    return plain;
}

/// Too large for 64 bits: Python has no limit there; the nearest double keeps the size.
Value integerOf(std::string_view digits, int base, bool negative)
{
    std::uint64_t number = 0;
    const auto* end = digits.data() + digits.size();
    const auto [rest, error] = std::from_chars(digits.data(), end, number, base);
    constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    if (error == std::errc{} && rest == end && number <= kMost) {
        const auto value = static_cast<std::int64_t>(number);
        return negative ? -value : value;
    }
    double wide = 0.0;
    if (base == 10)
        std::from_chars(digits.data(), end, wide);
    else
        for (const char c : digits)
            wide = wide * base + (isDigit(c) ? c - '0' : (c | 0x20) - 'a' + 10);
    return negative ? -wide : wide;
}

bool consistsOf(std::string_view text, std::string_view allowed)
{
    return !text.empty() && text.find_first_not_of(allowed) == std::string_view::npos
        && text.find_first_not_of('_') != std::string_view::npos;
}

/// `1:30:00`, which YAML 1.1 reads in base 60.
std::optional<double> sexagesimal(std::string_view text)
{
    double total = 0.0;
    for (bool first = true;; first = false) {
        const auto colon = text.find(':');
        const auto part = text.substr(0, colon);
        if (part.empty() || (!first && (part.size() > 2 || (part.size() == 2 && part[0] > '5'))))
            return std::nullopt;
        if (!std::all_of(part.begin(), part.end(),
                         [first](char c) { return isDigit(c) || (first && c == '_'); }))
            return std::nullopt;
        double number = 0.0;
        for (const char c : withoutUnderscores(part))
            number = number * 10 + (c - '0');
        total = total * 60 + number;
        if (colon == std::string_view::npos)
            return first ? std::nullopt : std::optional(total);
        text.remove_prefix(colon + 1);
    }
}

std::optional<Value> resolveInteger(std::string_view digits, bool negative)
{
    if (digits.empty() || !isDigit(digits[0]))
        return std::nullopt;
    const auto rest = digits.substr(std::min<std::size_t>(2, digits.size()));
    if (digits.starts_with("0x") && consistsOf(rest, "0123456789abcdefABCDEF_"))
        return integerOf(withoutUnderscores(rest), 16, negative);
    if (digits.starts_with("0b") && consistsOf(rest, "01_"))
        return integerOf(withoutUnderscores(rest), 2, negative);
    if (digits.size() > 1 && digits[0] == '0' && consistsOf(digits.substr(1), "01234567_"))
        return integerOf(withoutUnderscores(digits), 8, negative);
    if (digits == "0" || (digits[0] != '0' && consistsOf(digits, "0123456789_")))
        return integerOf(withoutUnderscores(digits), 10, negative);
    if (digits[0] == '0')
        return std::nullopt;
    if (const auto total = sexagesimal(digits))
        return static_cast<std::int64_t>(negative ? -*total : *total);
    return std::nullopt;
}

/// True for digits with a dot, an exponent or both, as LightningCLI's reader takes them.
bool looksLikeFloat(std::string_view text)
{
    std::size_t at = 0;
    const auto skip = [&](bool underscores) {
        const auto begin = at;
        while (at < text.size() && (isDigit(text[at]) || (underscores && text[at] == '_')))
            ++at;
        return at - begin;
    };
    const bool whole = !text.empty() && isDigit(text[0]) && skip(true) > 0;
    const bool dot = at < text.size() && text[at] == '.';
    if (dot)
        ++at;
    const bool fraction = dot && at < text.size() && skip(true) > 0;
    if (!whole && !fraction)
        return false;
    if (at == text.size())
        return dot;
    if (text[at] != 'e' && text[at] != 'E')
        return false;
    ++at;
    if (at < text.size() && (text[at] == '-' || text[at] == '+'))
        ++at;
    return skip(false) > 0 && at == text.size();
}

std::optional<Value> resolveFloat(std::string_view text, bool negative, bool hasSign)
{
    if (contains({".inf", ".Inf", ".INF"}, text))
        return Value(negative ? -std::numeric_limits<double>::infinity()
                              : std::numeric_limits<double>::infinity());
    if (!hasSign && contains({".nan", ".NaN", ".NAN"}, text))
        return Value(std::numeric_limits<double>::quiet_NaN());
    if (!looksLikeFloat(text))
        return std::nullopt;
    const auto digits = withoutUnderscores(text);
    double number = 0.0;
    const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (parsed.ec == std::errc::result_out_of_range) {
        const auto exponent = digits.find_first_of("eE");
        const bool tiny = exponent != std::string::npos && digits[exponent + 1] == '-';
        number = tiny ? 0.0 : std::numeric_limits<double>::infinity();
    }
    return Value(negative ? -number : number);
}

bool isPlainSafe(std::string_view text)
{
    constexpr std::string_view kIndicators = "-?:,[]{}#&*!|>'\"%@`";
    if (text.empty() || text.front() == ' ' || text.back() == ' ' || text.back() == ':')
        return false;
    // "-x" is fine as a plain scalar, but a reader has to look twice; quotes are plainer.
    if (kIndicators.find(text.front()) != std::string_view::npos || text == "=" || text == "<<"
        || text == "...")
        return false;
    return std::none_of(text.begin(), text.end(),
                        [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; })
        && text.find_first_of(",[]{}") == std::string_view::npos && text.find(": ") == std::string_view::npos
        && text.find(" #") == std::string_view::npos;
}

std::string singleQuoted(std::string_view text)
{
    std::string out = "'";
    for (const char c : text)
        out += c == '\'' ? std::string("''") : std::string(1, c);
    return out + "'";
}

std::string doubleQuoted(std::string_view text)
{
    constexpr std::string_view kHex = "0123456789abcdef";
    std::string out = "\"";
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\')
            out += {'\\', c};
        else if (c == '\n')
            out += "\\n";
        else if (c == '\t')
            out += "\\t";
        else if (byte < 0x20 || byte == 0x7f)
            out += {'\\', 'x', kHex[byte >> 4], kHex[byte & 15]};
        else
            out += c;
    }
    return out + "\"";
}

std::string quoted(std::string_view text)
{
    const bool control = std::any_of(
        text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
    return control ? doubleQuoted(text) : singleQuoted(text);
}

} // namespace

Value resolveScalar(std::string_view text)
{
    if (text.empty() || contains({"~", "null", "Null", "NULL"}, text))
        return Null{};
    if (contains({"true", "True", "TRUE", "yes", "Yes", "YES", "on", "On", "ON"}, text))
        return true;
    if (contains({"false", "False", "FALSE", "no", "No", "NO", "off", "Off", "OFF"}, text))
        return false;
    const bool hasSign = text[0] == '-' || text[0] == '+';
    const bool negative = text[0] == '-';
    const auto digits = text.substr(hasSign ? 1 : 0);
    if (auto integer = resolveInteger(digits, negative))
        return *integer;
    if (auto number = resolveFloat(digits, negative, hasSign))
        return *number;
    return std::string(text);
}

std::string numberText(double number)
{
    if (std::isnan(number))
        return ".nan";
    if (std::isinf(number))
        return number < 0 ? "-.inf" : ".inf";
    std::array<char, 40> buffer{};
    const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), number).ptr;
    std::string text(buffer.data(), end);
    if (text.find('.') == std::string::npos) // PyYAML takes 1e-05 for a string.
        text.insert(std::min(text.find('e'), text.size()), ".0");
    return text;
}

std::string quotedIfNeeded(std::string_view text)
{
    return isPlainSafe(text) && resolveScalar(text).isString() ? std::string(text) : quoted(text);
}

std::string keyText(std::string_view key)
{
    return isPlainSafe(key) ? std::string(key) : quoted(key);
}

} // namespace mantissa
