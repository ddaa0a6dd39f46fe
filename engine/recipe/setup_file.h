#pragma once

#include "engine/core/result.h"
#include "engine/recipe/setup.h"
#include "engine/recipe/source_map.h"

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace mantissa {

enum class ProblemGrade {
    Unreadable, ///< There is no set-up: nothing else can be said about the file.
    Error, ///< The real program would refuse the file.
    Warning ///< It would read the file, but not as its owner does.
};

/// What is wrong with a file as text, at its place.
struct SourceProblem {
    std::string id; ///< "duplicate_key", "unknown_key", "tab_indentation", …
    ProblemGrade grade = ProblemGrade::Error;
    std::string path; ///< The setting, where there is one.
    SourceSpan span;
    std::string message;
    std::string hint;
    bool operator==(const SourceProblem&) const = default;
};

/// A set-up as it was read, where its settings stand, and what is wrong with the text.
struct SetupFile {
    Setup setup;
    SourceMap map;
    std::vector<SourceProblem> problems; ///< In the order of the file.

    bool isReadable() const;
};

/// Reads LightningCLI's YAML as PyYAML and jsonargparse do. Never constructs what a tag names. An empty text
/// is an empty set-up. Unreadable text gives an empty set-up and the problem.
SetupFile readSetup(std::string_view text);

/// The bytes of a file, or why they cannot be had. Files over the size that readSetup takes are not loaded
/// whole.
Result<std::string> readSetupText(const std::filesystem::path& path);

} // namespace mantissa
