#include "engine/knowledge/error_record.h"

#include <nlohmann/json.hpp>

namespace mantissa {
namespace {

using nlohmann::json;

constexpr int kSchemaVersion = 2;

std::string textAt(const json& record, const char* key)
{
    const auto found = record.find(key);
    return found != record.end() && found->is_string() ? found->get<std::string>() : std::string();
}

std::vector<std::string> listAt(const json& record, const char* key)
{
    const auto found = record.find(key);
    if (found == record.end())
        return {};
    if (found->is_string())
        return {found->get<std::string>()};
    std::vector<std::string> list;
    for (const auto& entry : *found)
        if (entry.is_string())
            list.push_back(entry.get<std::string>());
    return list;
}

int numberAt(const json& record, const char* key)
{
    const auto found = record.find(key);
    return found != record.end() && found->is_number_integer() ? found->get<int>() : 0;
}

} // namespace

Result<ErrorRecord> readErrorRecord(std::string_view text)
{
    auto root = json::parse(text, nullptr, false);
    if (root.is_object() && root.contains("record"))
        root = json(root["record"]);
    if (!root.is_object())
        return Error{ErrorCode::InvalidSetup, "This is no error record: it is not a JSON object.",
                     "Give a file with one record in it."};
    if (const int version = numberAt(root, "schemaVersion"); version != kSchemaVersion)
        return Error{ErrorCode::InvalidSetup,
                     "This error record has schemaVersion " + std::to_string(version) + ".",
                     "This program reads version 2."};
    ErrorRecord record{textAt(root, "id"),
                       textAt(root, "repo"),
                       textAt(root, "version"),
                       textAt(root, "slug"),
                       textAt(root, "errorClass"),
                       textAt(root, "errorMessage"),
                       textAt(root, "messagePattern"),
                       textAt(root, "severity"),
                       textAt(root, "filePath"),
                       numberAt(root, "lineNumber"),
                       textAt(root, "documentation"),
                       listAt(root, "triggerScenarios"),
                       listAt(root, "commonSituations"),
                       listAt(root, "solutions"),
                       listAt(root, "preventionTips"),
                       listAt(root, "tags"),
                       listAt(root, "rules"),
                       textAt(root, "article")};
    if (record.id.empty() || record.errorMessage.empty())
        return Error{ErrorCode::InvalidSetup, "This error record lacks its id or its errorMessage.",
                     "Both are needed to find it again."};
    return record;
}

} // namespace mantissa
