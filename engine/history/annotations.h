#pragma once

#include "engine/core/result.h"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace mantissa {

/// What people write on a run afterwards. Kept beside run.sqlite, since that file has one writer: the
/// training process.
struct Annotations {
    std::optional<std::string> name; ///< In place of the name that the run was started with.
    std::string notes;
    std::vector<std::string> tags;
    bool starred = false;
    bool trashed = false;
    bool operator==(const Annotations&) const = default;
};

/// None where the file is missing; Damaged where it is no annotations file.
Result<Annotations> readAnnotations(const std::filesystem::path& folder);
/// Replaces the file at once: a reader sees the old one or the new one.
Result<void> writeAnnotations(const std::filesystem::path& folder, const Annotations& annotations);

} // namespace mantissa
