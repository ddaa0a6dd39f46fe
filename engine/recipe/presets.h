#pragma once

#include "engine/core/result.h"

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace mantissa {

/// A set-up to begin with. Its file opens with two comment lines: `# preset: Title`, then `# works: …` or
/// `# fails: …` with one sentence why.
struct Preset {
    std::string id; ///< The file's name without its ending.
    std::string title;
    std::string sentence;
    bool good = true; ///< It trains; else it shows a documented failure.
    std::string yaml;
    bool operator==(const Preset&) const = default;
};

/// The error says which of the two lines is missing.
Result<Preset> readPreset(std::string_view id, std::string_view yaml);

/// The presets that ship, built in: the good ones first, the default at the front.
const std::vector<Preset>& presets();

/// The presets of a folder, by file name. Files that are none are left out.
std::vector<Preset> listPresets(const std::filesystem::path& folder);

} // namespace mantissa
