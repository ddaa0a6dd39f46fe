#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace mantissa {

/// The parser says where a node begins; these say where it ends. All offsets are bytes.

/// Behind white space, line breaks and comments.
std::size_t skipBlank(std::string_view text, std::size_t at);
/// Behind an anchor and a tag as well.
std::size_t skipProperties(std::string_view text, std::size_t at);

/// Nothing where quotes are not closed. `value` is what the parser made of the scalar.
std::optional<std::size_t> scalarEnd(std::string_view text, std::size_t begin, std::string_view value);
std::size_t aliasEnd(std::string_view text, std::size_t begin);
/// Behind the closing bracket; nothing where there is none. `inside` is behind the last entry.
std::optional<std::size_t> flowEnd(std::string_view text, std::size_t inside, char closing);

} // namespace mantissa
