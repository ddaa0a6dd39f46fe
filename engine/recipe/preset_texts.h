#pragma once

#include <span>
#include <string_view>

namespace mantissa {

struct PresetText {
    std::string_view id;
    std::string_view yaml;
};

/// The files of resources/presets as the build found them.
std::span<const PresetText> presetTexts();

} // namespace mantissa
