#pragma once

#include "engine/recipe/value.h"

#include <string_view>

namespace mantissa {

/// A value written on one line, as defaults and command-line settings are: a scalar, `[a, b]` or `{key:
/// value}`. Text that is no YAML is taken as a string.
Value readFlowValue(std::string_view text);

} // namespace mantissa
