#pragma once

#include "engine/recipe/setup.h"

#include <string>
#include <string_view>
#include <vector>

namespace mantissa {

/// A key that no reader of this file would know.
struct UnknownKey {
    std::string path;
    std::string message;
    std::string hint; ///< The nearest known name, or what became of a key of older versions.
};

/// Keys of the sections whose keys are known: the top, `trainer`, `mantissa` and its parts, and the arguments
/// of this engine's own classes. What a stranger's class takes is not known, so it is not judged.
std::vector<UnknownKey> unknownKeys(const Setup& setup);

/// The known name that the written one was probably meant to be; empty where none is near.
std::string_view nearestName(std::string_view written, const std::vector<std::string_view>& known);

} // namespace mantissa
