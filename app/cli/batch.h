#pragma once

#include "engine/rules/target.h"

#include <istream>
#include <string>

namespace mantissa::cli {

/// Checks a set-up a line. A line is an object with `id`, `knobs` and `target`; what it says comes out on
/// standard output, a line as well. A bad line gives its error and the rest goes on. Returns the exit code.
int checkBatch(std::istream& rows, const Target& fallback, bool json);

} // namespace mantissa::cli
