#include "engine/checkpoint/checkpoint_manifest.h"

#include <nlohmann/json.hpp>

#include <fstream>
#include <set>
#include <system_error>

namespace mantissa {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr int kFormat = 1;
constexpr int kMostParts = 4096;
constexpr std::uintmax_t kMostBytes = 64U << 20U;

Error damaged(const fs::path& file, const std::string& why)
{
    return {ErrorCode::Damaged, file.string() + " is damaged: " + why, "Use another checkpoint."};
}

std::string partName(const char* stem, int part, int parts)
{
    if (parts == 1)
        return std::string(stem) + ".safetensors";
    const auto five = [](int number) {
        const std::string digits = std::to_string(number);
        return std::string(digits.size() < 5 ? 5 - digits.size() : 0, '0') + digits;
    };
    return std::string(stem) + '-' + five(part + 1) + "-of-" + five(parts) + ".safetensors";
}

/// Throws json::exception.
CheckpointManifest parsed(const json& text)
{
    CheckpointManifest manifest;
    manifest.stepsDone = text.at("steps").get<std::int64_t>();
    manifest.parts = text.value("parts", 1);
    manifest.buffers = text.value("buffers", std::vector<std::string>());
    manifest.shapes = text.value("shapes", std::map<std::string, std::vector<std::int64_t>>());
    for (const auto& [name, file] : text.at("files").items())
        manifest.files[name] = {file.at("bytes").get<std::uint64_t>(), file.at("sha256").get<std::string>()};
    return manifest;
}

Result<void> checkNames(const CheckpointManifest& manifest, const fs::path& file)
{
    if (manifest.stepsDone < 0 || manifest.parts < 1 || manifest.parts > kMostParts)
        return damaged(file, "its number of steps or of parts is impossible.");
    std::set<std::string> wanted = {kPositionFile};
    for (int part = 0; part < manifest.parts; ++part) {
        wanted.insert(manifest.modelFile(part));
        wanted.insert(manifest.trainingFile(part));
    }
    for (const auto& name : wanted)
        if (!manifest.files.contains(name))
            return damaged(file, "it does not name " + name + ".");
    for (const auto& [name, entry] : manifest.files)
        if (!wanted.contains(name))
            return damaged(file, "it names \"" + name + "\", which is no file of a checkpoint.");
    for (const auto& [name, shape] : manifest.shapes)
        for (const auto size : shape)
            if (size < 0)
                return damaged(file, "the shape of " + name + " has a size below zero.");
    return {};
}

} // namespace

std::string CheckpointManifest::modelFile(int part) const
{
    return partName("model", part, parts);
}

std::string CheckpointManifest::trainingFile(int part) const
{
    return partName("training", part, parts);
}

std::string manifestText(const CheckpointManifest& manifest)
{
    json text = {{"format", kFormat},
                 {"steps", manifest.stepsDone},
                 {"buffers", manifest.buffers},
                 {"files", json::object()}};
    if (manifest.parts > 1)
        text.update({{"parts", manifest.parts}, {"shapes", manifest.shapes}});
    for (const auto& [name, file] : manifest.files)
        text["files"][name] = {{"bytes", file.bytes}, {"sha256", file.sha256}};
    return text.dump(2) + "\n";
}

Result<CheckpointManifest> readManifest(const fs::path& folder)
{
    const fs::path file = folder / kManifestFile;
    std::error_code error;
    const auto size = fs::file_size(file, error);
    if (error)
        return Error{ErrorCode::NotFound,
                     folder.string() + " holds no checkpoint: it has no " + kManifestFile + ".",
                     {}};
    if (size > kMostBytes)
        return damaged(file, "it is larger than any manifest.");
    std::ifstream in(file);
    try {
        const json text = json::parse(in);
        if (text.at("format").get<int>() > kFormat)
            return Error{ErrorCode::Damaged, file.string() + " was written by a newer Mantissa.",
                         "Use that one."};
        auto manifest = parsed(text);
        if (const auto sound = checkNames(manifest, file); !sound)
            return sound.error();
        return manifest;
    } catch (const json::exception& exception) {
        return damaged(file, exception.what());
    }
}

} // namespace mantissa
