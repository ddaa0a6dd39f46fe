#pragma once

#include "engine/recipe/setup_file.h"
#include "engine/recipe/source_text.h"

#include <cstddef>
#include <memory>
#include <string>
#include <variant>
#include <vector>

namespace mantissa {

struct YamlNode;

/// A pair of a map, or an entry of a list (then without key).
struct YamlEntry {
    std::size_t begin = 0; ///< Where the key, or the dash of a block list's entry, stands.
    std::unique_ptr<YamlNode> key;
    std::unique_ptr<YamlNode> value;
};

/// A node of the text as it is written: duplicates, merges and aliases are still there. Offsets are bytes.
struct YamlNode {
    enum class Kind { Scalar, List, Map, Alias };

    Kind kind = Kind::Scalar;
    bool flow = false; ///< Written with brackets or braces.
    bool plain = false; ///< A scalar without quotes.
    std::string text; ///< Of a scalar.
    std::string tag; ///< An explicit one; else empty.
    std::size_t mark = 0; ///< Begins here with its anchor and tag, ...
    std::size_t begin = 0; ///< ... without them here, ...
    std::size_t end = 0; ///< ... and ends before here. Equal to begin where nothing is written.
    const YamlNode* target = nullptr; ///< Of an alias.
    std::size_t weight = 1; ///< Nodes in it once aliases are expanded.
    std::vector<YamlEntry> entries;
};

/// The text as a tree; null where the text holds no document.
using YamlTree = std::variant<std::unique_ptr<YamlNode>, SourceProblem>;

/// Parses one document within the limits of depth and size. Aliases are not expanded, so that a bomb costs
/// nothing.
YamlTree parseYaml(const SourceText& source);

} // namespace mantissa
