#pragma once

#include "engine/core/result.h"

#include <filesystem>
#include <string_view>

namespace mantissa {

/// Gives a file new contents so that nobody ever sees half of them: written aside, synced, renamed. Follows a
/// link to the file it names, and keeps the file's permissions. On failure the old file is as it was.
Result<void> replaceFile(const std::filesystem::path& path, std::string_view bytes);

} // namespace mantissa
