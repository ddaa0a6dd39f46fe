#pragma once

#include "engine/core/result.h"

#include <filesystem>
#include <string>

namespace mantissa {

/// A whole file of data. The error names the file, and `setting` as the place to look; what is larger than
/// this engine holds in memory is refused.
Result<std::string> readDataFile(const std::filesystem::path& file, const std::string& setting);

} // namespace mantissa
