#pragma once

#include "engine/core/result.h"
#include "engine/recipe/setup.h"

#include <string>
#include <string_view>
#include <vector>

namespace mantissa {

/// The text with the edits done. Only the lines that must change do: comments, order, quotes and line breaks
/// elsewhere survive byte for byte. A value that comes from an alias is written out where it has to differ.
/// The text that is handed back has been read again and says what applyEdits says.
Result<std::string> editSetupText(std::string_view text, const std::vector<Edit>& edits);

/// The same for a set-up that is wanted as a whole: the text changes where it says something else.
Result<std::string> rewriteSetupText(std::string_view text, const Setup& wanted);

/// A set-up that has no text yet, in block style.
std::string writeSetup(const Setup& setup);

/// Equal but for the order of keys, which means nothing to any reader.
bool sameSettings(const Value& a, const Value& b);

} // namespace mantissa
