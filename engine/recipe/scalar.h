#pragma once

#include "engine/recipe/value.h"

#include <string>
#include <string_view>

namespace mantissa {

/// What a plain (unquoted) YAML scalar means: the YAML 1.1 words and numbers, and in addition the numbers
/// that LightningCLI's reader takes, such as `1e-3`. Everything else is a string.
Value resolveScalar(std::string_view text);

/// A number in the shortest form that every YAML 1.1 reader takes for the same number.
std::string numberText(double number);

/// A string as a YAML scalar on one line: plain where it reads back as the same string, else quoted.
std::string quotedIfNeeded(std::string_view text);

/// Like quotedIfNeeded, for a map's key: a key keeps its spelling, so `0` needs no quotes.
std::string keyText(std::string_view key);

} // namespace mantissa
