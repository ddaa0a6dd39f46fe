#include "engine/interop/model_sizes.h"

#include "engine/interop/architecture_sizes.h"
#include "engine/interop/safetensors_header.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>
#include <map>
#include <set>

namespace mantissa {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr std::uintmax_t kMostJson = 64U << 20U; // the index of the largest public models is a few MB
constexpr int kMostDepth = 32;
constexpr const char* kRoot = "root";

bool isNumber(std::string_view part)
{
    return !part.empty() && part.size() < 7
        && std::all_of(part.begin(), part.end(), [](char c) { return c >= '0' && c <= '9'; });
}

/// The name up to its first number: "model.layers.7" of "model.layers.7.mlp.up_proj.weight".
std::string unitOf(const std::string& name)
{
    for (std::size_t begin = 0; begin < name.size();) {
        const auto end = std::min(name.find('.', begin), name.size());
        if (begin > 0 && isNumber(std::string_view(name).substr(begin, end - begin)))
            return name.substr(0, end);
        begin = end + 1;
    }
    return kRoot;
}

/// "layers.10" comes after "layers.9", and the root after all.
std::pair<std::string, std::int64_t> rankOf(const std::string& unit)
{
    const auto dot = unit.rfind('.');
    if (dot == std::string::npos)
        return {"\x7F", 0};
    return {unit.substr(0, dot), std::stoll(unit.substr(dot + 1))};
}

ModelSizes sizesOf(const std::vector<SafetensorsEntry>& entries)
{
    std::map<std::string, ModelUnit> byName;
    for (const auto& entry : entries) {
        auto& unit = byName[unitOf(entry.name)];
        std::int64_t elements = 1;
        for (const auto size : entry.shape)
            elements *= size;
        unit.elements += elements;
        unit.bytes += entry.end - entry.begin;
    }
    std::vector<ModelUnit> units;
    for (auto& [name, unit] : byName) {
        unit.name = name;
        units.push_back(unit);
    }
    std::sort(units.begin(), units.end(),
              [](const auto& a, const auto& b) { return rankOf(a.name) < rankOf(b.name); });
    return sumOfUnits(std::move(units), false);
}

Result<json> readJson(const fs::path& file)
{
    std::error_code failure;
    const auto size = fs::file_size(file, failure);
    if (failure)
        return Error{ErrorCode::NotFound, "Cannot read " + file.string() + ": " + failure.message() + ".",
                     "Name a safetensors file, an index of several, or a config.json."};
    if (size > kMostJson)
        return Error{ErrorCode::Damaged, file.string() + " is far too large for a description of a model.",
                     "Name its index or its config.json."};
    std::ifstream in(file);
    bool deep = false;
    const auto watch = [&](int depth, json::parse_event_t, json&) {
        deep = deep || depth > kMostDepth;
        return !deep;
    };
    json parsed = json::parse(in, watch, false);
    if (parsed.is_discarded() || deep || !parsed.is_object())
        return Error{ErrorCode::Damaged, file.string() + " holds no JSON object.",
                     "Copy the file again from where the model is."};
    return parsed;
}

/// The files that an index names lie beside it.
Result<ModelSizes> sizesOfIndex(const fs::path& file, const json& index)
{
    std::set<std::string> names;
    for (const auto& [tensor, part] : index.at("weight_map").items())
        names.insert(part.get<std::string>());
    std::vector<SafetensorsEntry> entries;
    for (const auto& name : names) {
        if (fs::path(name).filename() != name)
            return Error{ErrorCode::Damaged,
                         file.string() + " names “" + name + "”, which does not lie beside it.",
                         "Copy the index again from where the model is."};
        auto header = readSafetensorsHeader(file.parent_path() / name);
        if (!header)
            return Error{header.error().code, header.error().message,
                         "The index needs its " + std::to_string(names.size())
                             + " files beside it. Without them, name the model's config.json."};
        std::move(header->entries.begin(), header->entries.end(), std::back_inserter(entries));
    }
    return sizesOf(entries);
}

Result<ModelSizes> sizesOfDescription(const fs::path& file)
{
    const auto description = readJson(file);
    if (!description)
        return description.error();
    try {
        if (description->contains("weight_map"))
            return sizesOfIndex(file, *description);
        if (description->contains("model_type"))
            return sizesOfArchitecture(*description, file.string());
    } catch (const std::exception& error) { // what the JSON library throws, and sizes that are none
        std::string words = error.what();
        if (dynamic_cast<const json::exception*>(&error)) // "[json.exception.type_error.302] type must …"
            words.erase(0, std::min(words.size(), words.find("] ") + 2));
        return Error{ErrorCode::Damaged, file.string() + ": " + words + ".",
                     "Copy the file again from where the model is."};
    }
    return Error{ErrorCode::InvalidSetup, file.string() + " is neither an index nor a model's config.json.",
                 "An index has weight_map, a config has model_type."};
}

} // namespace

Result<ModelSizes> readModelSizes(const fs::path& file)
{
    if (file.extension() != ".safetensors")
        return sizesOfDescription(file);
    const auto header = readSafetensorsHeader(file);
    if (!header)
        return header.error();
    return sizesOf(header->entries);
}

} // namespace mantissa
