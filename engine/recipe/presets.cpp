#include "engine/recipe/presets.h"

#include "engine/recipe/preset_texts.h"
#include "engine/recipe/setup_file.h"

#include <algorithm>
#include <optional>

namespace mantissa {

namespace {

/// The rest of the first line that begins so, within the comments at the top.
std::optional<std::string> headerLine(std::string_view text, std::string_view start)
{
    while (text.starts_with('#')) {
        const auto end = std::min(text.find('\n'), text.size());
        auto line = text.substr(0, end);
        if (line.ends_with('\r'))
            line.remove_suffix(1);
        if (line.starts_with(start))
            return std::string(line.substr(start.size()));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return std::nullopt;
}

} // namespace

Result<Preset> readPreset(std::string_view id, std::string_view yaml)
{
    const auto title = headerLine(yaml, "# preset: ");
    const auto works = headerLine(yaml, "# works: ");
    const auto fails = headerLine(yaml, "# fails: ");
    if (!title || (!works && !fails))
        return Error{ErrorCode::InvalidSetup,
                     std::string(id) + " is no preset: its first lines do not say "
                         + (title ? "why." : "its title."),
                     "Begin it with “# preset: Title” and “# works: …” or “# fails: …”."};
    return Preset{std::string(id), *title, works ? *works : *fails, works.has_value(), std::string(yaml)};
}

const std::vector<Preset>& presets()
{
    static const std::vector<Preset> kPresets = [] {
        std::vector<Preset> all;
        for (const auto& text : presetTexts())
            if (auto preset = readPreset(text.id, text.yaml))
                all.push_back(std::move(*preset));
        return all;
    }();
    return kPresets;
}

std::vector<Preset> listPresets(const std::filesystem::path& folder)
{
    std::vector<Preset> found;
    std::error_code failed;
    for (const auto& entry : std::filesystem::directory_iterator(folder, failed)) {
        if (entry.path().extension() != ".yaml")
            continue;
        const auto text = readSetupText(entry.path());
        if (!text)
            continue;
        if (auto preset = readPreset(entry.path().stem().string(), *text))
            found.push_back(std::move(*preset));
    }
    std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.id < b.id; });
    return found;
}

} // namespace mantissa
