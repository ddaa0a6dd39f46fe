#include "engine/history/annotations.h"

#include "engine/core/replace_file.h"
#include "engine/history/run_folder.h"

#include <nlohmann/json.hpp>

#include <fstream>

namespace mantissa {

Result<Annotations> readAnnotations(const std::filesystem::path& folder)
{
    const auto file = folder / kAnnotationsFile;
    std::ifstream in(file);
    if (!in)
        return Annotations{};
    try {
        const auto json = nlohmann::json::parse(in);
        Annotations annotations;
        if (json.contains("name"))
            annotations.name = json.at("name").get<std::string>();
        annotations.notes = json.value("notes", std::string());
        annotations.tags = json.value("tags", std::vector<std::string>());
        annotations.starred = json.value("starred", false);
        annotations.trashed = json.value("trashed", false);
        return annotations;
    } catch (const nlohmann::json::exception& exception) {
        return Error{ErrorCode::Damaged, file.string() + " cannot be read: " + exception.what(),
                     "Correct the file, or delete it to lose the run's notes and nothing else."};
    }
}

Result<void> writeAnnotations(const std::filesystem::path& folder, const Annotations& annotations)
{
    nlohmann::ordered_json json;
    if (annotations.name)
        json["name"] = *annotations.name;
    json["notes"] = annotations.notes;
    json["tags"] = annotations.tags;
    json["starred"] = annotations.starred;
    json["trashed"] = annotations.trashed;
    const std::string text = json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace);
    return replaceFile(folder / kAnnotationsFile, text + '\n');
}

} // namespace mantissa
