#pragma once

#include "engine/core/result.h"

#include <filesystem>
#include <string_view>

namespace mantissa {

/// Writes a whole file and has it on the disk when it returns.
Result<void> writeDurably(const std::filesystem::path& file, std::string_view content);

/// Has a file's bytes, or a folder's list of names, on the disk when it returns.
Result<void> syncToDisk(const std::filesystem::path& path);

} // namespace mantissa
