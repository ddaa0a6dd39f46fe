#pragma once

#include "engine/recipe/path.h"
#include "engine/recipe/value.h"

#include <string>
#include <string_view>
#include <vector>

namespace mantissa {

/// A step of a path as the tree is built: keys and entry numbers only.
struct RawStep {
    PathStep step;
    std::string newClass; ///< The class path that the entry gets where it does not exist yet.
};

/// Turns class selectors into entry numbers, and their arguments into `init_args`. What is not there yet is
/// where it would be added.
std::vector<RawStep> rawSteps(const Value& root, const std::vector<PathStep>& steps);

/// The value there, or null.
const Value* findValue(const Value& root, const std::vector<RawStep>& steps);

/// A path as SourceMap spells it: `trainer.callbacks[0].init_args.patience`. The path itself where it is no
/// path.
std::string rawPath(const Value& root, std::string_view path);

} // namespace mantissa
