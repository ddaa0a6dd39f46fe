#include "engine/history/annotations.h"

#include "engine/history/run_folder.h"

#include <nlohmann/json.hpp>

#include <fstream>
#include <system_error>

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
    const auto file = folder / kAnnotationsFile;
    const auto aside = folder / (std::string(kAnnotationsFile) + ".new");
    std::ofstream out(aside);
    out << json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) << '\n';
    out.close();
    std::error_code error;
    if (out)
        std::filesystem::rename(aside, file, error);
    if (!out || error)
        return Error{ErrorCode::Io, file.string() + " cannot be written.",
                     "Check that you may write to the run's folder."};
    return {};
}

} // namespace mantissa
