#pragma once

#include <string>
#include <string_view>

namespace mantissa::cli {

/// Text from a file or a name as one that a terminal only shows: control characters, bytes that are no UTF-8
/// and marks that turn the direction of writing become escapes such as "\n" and "\x1b".
std::string printable(std::string_view text);

/// The same, but line breaks stay.
std::string printableLines(std::string_view text);

/// At most so many code points; what is cut off is told by an ellipsis.
std::string cutTo(std::string_view text, std::size_t most);

} // namespace mantissa::cli
