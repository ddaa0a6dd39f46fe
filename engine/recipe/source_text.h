#pragma once

#include "engine/recipe/setup_file.h"
#include "engine/recipe/source_map.h"

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

namespace mantissa {

/// A text with its lines, so that byte offsets become lines and columns. Refers to the text, does not own it.
class SourceText {
public:
    explicit SourceText(std::string_view text);

    std::string_view text() const { return m_text; }
    SourcePoint point(std::size_t offset) const;
    SourceSpan span(std::size_t begin, std::size_t end) const { return {point(begin), point(end)}; }

    std::size_t lineCount() const { return m_lines.size(); }
    std::size_t lineOf(std::size_t offset) const; ///< 0-based.
    std::size_t lineBegin(std::size_t line) const { return m_lines[line]; }
    std::size_t lineEnd(std::size_t line) const; ///< Behind the line break.
    std::string_view line(std::size_t line) const; ///< Without the line break.

private:
    std::string_view m_text;
    std::vector<std::size_t> m_lines;
};

/// What makes a text unreadable before it is parsed: size, NUL, encoding, a merge conflict.
std::optional<SourceProblem> unreadableText(const SourceText& source);

/// The text with the line ends of old Macs, a lone CR, as LF: of the same length, so that every place in it
/// stays. The parser takes a lone CR for no line end, and PyYAML does.
std::string withoutLoneReturns(std::string_view text);

} // namespace mantissa
