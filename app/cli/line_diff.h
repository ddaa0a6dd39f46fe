#pragma once

#include <string>
#include <string_view>

namespace mantissa::cli {

/// What differs between two texts, as patch reads it: three lines around each change.
std::string lineDiff(std::string_view before, std::string_view after, const std::string& name);

} // namespace mantissa::cli
