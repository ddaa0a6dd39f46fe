#pragma once

#include "engine/recipe/value.h"

#include <string>
#include <string_view>

namespace mantissa {

/// How new lines are written: like those around them.
struct BlockStyle {
    std::size_t indent = 0; ///< Spaces in front of the lines.
    std::string_view lineBreak = "\n";
    std::size_t step = 2; ///< Spaces that a level goes in.
};

/// `key: value` as whole lines, containers in block style.
std::string blockEntry(std::string_view key, const Value& value, BlockStyle style);
/// `- value` as whole lines.
std::string blockItem(const Value& value, BlockStyle style);
/// The lines of a map or list that is not empty.
std::string blockLines(const Value& value, BlockStyle style);

bool isFilled(const Value& value); ///< A map or list with something in it.

} // namespace mantissa
