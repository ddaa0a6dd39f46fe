#pragma once

#include "engine/core/result.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mantissa {

/// One step of a path: a map's key, or which entry of a list.
struct PathStep {
    std::string key; ///< A key, or the class of a list entry where `ofClass` is set.
    std::optional<std::size_t>
        index; ///< `[3]`: the fourth entry; with `ofClass`, the n-th of that class, 0-based.
    bool ofClass = false; ///< `[EarlyStopping]`, `[EarlyStopping#2]`

    bool isKey() const { return !ofClass && !index; }
    bool operator==(const PathStep&) const = default;
};

/// Keys are joined by dots; a key with a dot or a bracket in it stands in double quotes.
Result<std::vector<PathStep>> parsePath(std::string_view path);

std::string joinPath(std::string_view parent, std::string_view key);
std::string joinPath(std::string_view parent, std::size_t index);
std::string pathText(const std::vector<PathStep>& steps);

/// The last component of a class path: "EarlyStopping" of "lightning.pytorch.callbacks.EarlyStopping".
std::string_view shortClassName(std::string_view classPath);

} // namespace mantissa
