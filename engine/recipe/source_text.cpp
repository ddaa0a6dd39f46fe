#include "engine/recipe/source_text.h"

#include <algorithm>

namespace mantissa {

namespace {

constexpr std::size_t kMostBytes = 4u << 20;

bool isContinuation(char c)
{
    return (static_cast<unsigned char>(c) & 0xc0) == 0x80;
}

/// The length of the code point there, 0 where the bytes are no UTF-8.
std::size_t codePointLength(std::string_view text, std::size_t at)
{
    const auto lead = static_cast<unsigned char>(text[at]);
    if (lead < 0x80)
        return 1;
    const std::size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
    if (lead < 0xc2 || lead > 0xf4 || at + length > text.size())
        return 0;
    for (std::size_t i = 1; i < length; ++i)
        if (!isContinuation(text[at + i]))
            return 0;
    const auto second = static_cast<unsigned char>(text[at + 1]);
    const bool overlong = (lead == 0xe0 && second < 0xa0) || (lead == 0xf0 && second < 0x90);
    const bool surrogate = lead == 0xed && second > 0x9f;
    const bool tooLarge = lead == 0xf4 && second > 0x8f;
    return overlong || surrogate || tooLarge ? 0 : length;
}

std::size_t firstInvalidByte(std::string_view text)
{
    for (std::size_t at = 0; at < text.size();) {
        const auto length = codePointLength(text, at);
        if (length == 0)
            return at;
        at += length;
    }
    return std::string_view::npos;
}

SourceProblem unreadable(std::string id, SourceSpan span, std::string message, std::string hint)
{
    return {std::move(id), ProblemGrade::Unreadable, {}, span, std::move(message), std::move(hint)};
}

std::optional<SourceProblem> conflictMarkers(const SourceText& source)
{
    std::size_t begin = source.lineCount();
    std::size_t middle = begin;
    for (std::size_t i = 0; i < source.lineCount(); ++i) {
        const auto line = source.line(i);
        if (line.starts_with("<<<<<<< "))
            begin = i;
        else if (line == "=======" && begin < i)
            middle = i;
        else if (line.starts_with(">>>>>>> ") && begin < middle && middle < i)
            return unreadable("conflict_markers", source.span(source.lineBegin(begin), source.lineEnd(i)),
                              "A merge conflict is left in the file: lines " + std::to_string(begin + 2)
                                  + " to " + std::to_string(middle) + " ("
                                  + std::string(source.line(begin).substr(8)) + ") against lines "
                                  + std::to_string(middle + 2) + " to " + std::to_string(i) + " ("
                                  + std::string(line.substr(8)) + ").",
                              "Keep one of the two sides and remove the three marker lines.");
    }
    return std::nullopt;
}

} // namespace

SourceText::SourceText(std::string_view text) : m_text(text), m_lines{0}
{
    for (std::size_t at = 0; at < text.size(); ++at)
        if (text[at] == '\n' || (text[at] == '\r' && (at + 1 == text.size() || text[at + 1] != '\n')))
            m_lines.push_back(at + 1);
}

std::size_t SourceText::lineOf(std::size_t offset) const
{
    const auto after = std::upper_bound(m_lines.begin(), m_lines.end(), offset);
    return static_cast<std::size_t>(after - m_lines.begin()) - 1;
}

SourcePoint SourceText::point(std::size_t offset) const
{
    offset = std::min(offset, m_text.size());
    const auto line = lineOf(offset);
    auto before = m_text.substr(m_lines[line], offset - m_lines[line]);
    if (line == 0 && before.starts_with("\xef\xbb\xbf"))
        before.remove_prefix(3);
    const auto continuations = std::count_if(before.begin(), before.end(), isContinuation);
    return {line + 1, before.size() - static_cast<std::size_t>(continuations) + 1, offset};
}

std::size_t SourceText::lineEnd(std::size_t line) const
{
    return line + 1 < m_lines.size() ? m_lines[line + 1] : m_text.size();
}

std::string_view SourceText::line(std::size_t line) const
{
    auto text = m_text.substr(m_lines[line], lineEnd(line) - m_lines[line]);
    while (!text.empty() && (text.back() == '\n' || text.back() == '\r'))
        text.remove_suffix(1);
    return text;
}

std::string withoutLoneReturns(std::string_view text)
{
    std::string plain(text);
    for (std::size_t at = 0; at < plain.size(); ++at)
        if (plain[at] == '\r' && (at + 1 == plain.size() || plain[at + 1] != '\n'))
            plain[at] = '\n';
    return plain;
}

std::optional<SourceProblem> unreadableText(const SourceText& source)
{
    const auto text = source.text();
    if (text.size() > kMostBytes)
        return unreadable("too_large", {}, "The file is larger than 4 MiB, which no set-up is.",
                          "Check that this is the right file.");
    if (const auto nul = text.find('\0'); nul != std::string_view::npos)
        return unreadable("nul_byte", source.span(nul, nul + 1),
                          "The file has a NUL byte in it, so it is no text.",
                          "Check that this is the right file, and that it is saved as UTF-8.");
    if (const auto bad = firstInvalidByte(text); bad != std::string_view::npos)
        return unreadable("not_utf8", source.span(bad, bad + 1), "The file is not UTF-8 from this byte on.",
                          "Save the file as UTF-8.");
    return conflictMarkers(source);
}

} // namespace mantissa
