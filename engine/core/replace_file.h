#pragma once

#include "engine/core/result.h"

#include <filesystem>
#include <string_view>

namespace mantissa {

/// Gives a file new contents so that nobody ever sees half of them: written aside, synced, renamed. Follows a
/// link to the file it names, and keeps the file's permissions. A file that has other names besides is
/// written in place instead, so that they go on naming the same file. On failure the old file is as it was,
/// or the error says where the new text lies.
Result<void> replaceFile(const std::filesystem::path& path, std::string_view bytes);

} // namespace mantissa
