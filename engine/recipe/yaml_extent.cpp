#include "engine/recipe/yaml_extent.h"

#include <algorithm>

namespace mantissa {

namespace {

constexpr std::string_view kBlanks = " \t\r\n";

std::optional<std::size_t> quotedEnd(std::string_view text, std::size_t begin)
{
    const char quote = text[begin];
    for (auto at = begin + 1; at < text.size(); ++at) {
        if (quote == '"' && text[at] == '\\') {
            ++at;
        } else if (text[at] == quote) {
            const bool doubled = quote == '\'' && at + 1 < text.size() && text[at + 1] == '\'';
            if (!doubled)
                return at + 1;
            ++at;
        }
    }
    return std::nullopt;
}

std::size_t lineBreak(std::string_view text, std::size_t at)
{
    return std::min(text.find('\n', at), text.size());
}

std::size_t leadingSpaces(std::string_view line)
{
    return std::min(line.find_first_not_of(' '), line.size());
}

/// A block scalar goes on while lines are blank or at least as far in as its first line.
std::size_t blockEnd(std::string_view text, std::size_t begin, std::string_view value)
{
    auto end = lineBreak(text, begin);
    const auto headerEnd = end;
    std::optional<std::size_t> indent;
    if (value.find_first_not_of("\n ") == std::string_view::npos)
        return headerEnd;
    const auto own = leadingSpaces(value.substr(value.find_first_not_of('\n')));
    for (auto at = end + 1; at <= text.size();) {
        const auto next = lineBreak(text, at);
        const auto line = text.substr(at, next - at);
        const bool blank = line.find_first_not_of(kBlanks) == std::string_view::npos;
        if (!blank) {
            const auto spaces = leadingSpaces(line);
            if (!indent)
                indent = spaces - std::min(own, spaces);
            if (spaces < *indent)
                break;
            end = next;
        }
        at = next + 1;
    }
    return end > 0 && end <= text.size() && text[end - 1] == '\r' ? end - 1 : end;
}

/// Plain text has no escapes, and folding changes white space only: so walk along both.
std::size_t plainEnd(std::string_view text, std::size_t begin, std::string_view value)
{
    auto at = begin;
    for (const char c : value) {
        if (kBlanks.find(c) != std::string_view::npos)
            continue;
        const auto found = text.find_first_not_of(kBlanks, at);
        if (found == std::string_view::npos || text[found] != c)
            break;
        at = found + 1;
    }
    return at;
}

} // namespace

std::size_t skipBlank(std::string_view text, std::size_t at)
{
    while (at < text.size()) {
        if (text[at] == '#')
            at = lineBreak(text, at);
        else if (kBlanks.find(text[at]) != std::string_view::npos)
            ++at;
        else
            break;
    }
    return std::min(at, text.size());
}

std::size_t skipProperties(std::string_view text, std::size_t at)
{
    while (at < text.size() && (text[at] == '&' || text[at] == '!')) {
        at = std::min(text.find_first_of(" \t\r\n,[]{}", at), text.size());
        at = skipBlank(text, at);
    }
    return at;
}

std::optional<std::size_t> scalarEnd(std::string_view text, std::size_t begin, std::string_view value)
{
    if (begin >= text.size())
        return begin;
    if (text[begin] == '"' || text[begin] == '\'')
        return quotedEnd(text, begin);
    if (text[begin] == '|' || text[begin] == '>')
        return blockEnd(text, begin, value);
    return plainEnd(text, begin, value);
}

std::size_t aliasEnd(std::string_view text, std::size_t begin)
{
    return std::min(text.find_first_of(" \t\r\n,[]{}", begin), text.size());
}

std::optional<std::size_t> flowEnd(std::string_view text, std::size_t inside, char closing)
{
    auto at = skipBlank(text, inside);
    if (at < text.size() && text[at] == ',')
        at = skipBlank(text, at + 1);
    return at < text.size() && text[at] == closing ? std::optional(at + 1) : std::nullopt;
}

} // namespace mantissa
