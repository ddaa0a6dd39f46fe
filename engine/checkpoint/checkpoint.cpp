#include "engine/checkpoint/checkpoint.h"

#include "engine/checkpoint/durable_file.h"
#include "engine/checkpoint/safetensors.h"
#include "engine/checkpoint/sha256.h"
#include "engine/core/counted.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <system_error>

namespace mantissa {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr int kFormat = 1;
constexpr const char* kModelFile = "model.safetensors";
constexpr const char* kTrainingFile = "training.safetensors";
constexpr const char* kJsonFile = "training.json";
constexpr const char* kManifestFile = "manifest.json";
constexpr std::string_view kWeightPrefix = "model.";
constexpr std::string_view kBufferPrefix = "buffer.";
constexpr std::string_view kFolderPrefix = "step-";

Error damaged(const fs::path& what, const std::string& why)
{
    return {ErrorCode::Damaged, what.string() + " is damaged: " + why, "Use another checkpoint."};
}

/// A trainer's tensors by the file that they go to.
struct Parts {
    NamedTensors model;
    NamedTensors training;
    json buffers = json::array();
};

Parts partsOf(const TrainerState& state)
{
    Parts parts;
    for (const auto& [name, tensor] : state.tensors) {
        const std::string_view view = name;
        if (view.starts_with(kWeightPrefix)) {
            parts.model.emplace_back(view.substr(kWeightPrefix.size()), tensor);
        } else if (view.starts_with(kBufferPrefix)) {
            parts.model.emplace_back(view.substr(kBufferPrefix.size()), tensor);
            parts.buffers.push_back(parts.model.back().first);
        } else {
            parts.training.emplace_back(name, tensor);
        }
    }
    return parts;
}

Result<void> describeFile(const fs::path& file, json& manifest)
{
    auto sum = sha256OfFile(file);
    if (!sum)
        return sum.error();
    std::error_code error;
    const auto bytes = fs::file_size(file, error);
    manifest["files"][file.filename().string()] = {{"bytes", bytes}, {"sha256", *sum}};
    return {};
}

Result<void> writeFiles(const fs::path& folder, std::int64_t stepsDone, const TrainerState& state)
{
    const Parts parts = partsOf(state);
    json manifest = {
        {"format", kFormat}, {"steps", stepsDone}, {"buffers", parts.buffers}, {"files", json::object()}};
    if (auto written = writeSafetensors(folder / kModelFile, parts.model, {{"format", "pt"}}); !written)
        return written;
    if (auto written = writeSafetensors(folder / kTrainingFile, parts.training); !written)
        return written;
    if (auto written = writeDurably(folder / kJsonFile, state.json); !written)
        return written;
    for (const char* name : {kModelFile, kTrainingFile, kJsonFile}) {
        if (auto synced = syncToDisk(folder / name); !synced)
            return synced;
        if (auto described = describeFile(folder / name, manifest); !described)
            return described;
    }
    if (auto written = writeDurably(folder / kManifestFile, manifest.dump(2) + "\n"); !written)
        return written;
    return syncToDisk(folder);
}

Result<json> readManifest(const fs::path& folder)
{
    const fs::path file = folder / kManifestFile;
    std::ifstream in(file);
    if (!in)
        return Error{ErrorCode::NotFound,
                     folder.string() + " holds no checkpoint: it has no " + kManifestFile + ".",
                     {}};
    try {
        json manifest = json::parse(in);
        if (manifest.at("format").get<int>() > kFormat)
            return Error{ErrorCode::Damaged, file.string() + " was written by a newer Mantissa.",
                         "Use that one."};
        manifest.at("files").at(kModelFile);
        return manifest;
    } catch (const json::exception& error) {
        return damaged(file, error.what());
    }
}

Result<void> checkFile(const fs::path& file, const json& expected)
{
    std::error_code error;
    const auto bytes = fs::file_size(file, error);
    if (error)
        return damaged(file, error.message());
    if (bytes != expected.value("bytes", std::uintmax_t{0}))
        return damaged(file,
                       "it has " + counted(static_cast<std::int64_t>(bytes), "byte") + " and should have "
                           + expected.at("bytes").dump() + ".");
    auto sum = sha256OfFile(file);
    if (!sum)
        return sum.error();
    if (*sum != expected.value("sha256", std::string()))
        return damaged(file, "its checksum differs from the manifest's.");
    return {};
}

std::string folderName(std::int64_t stepsDone)
{
    std::string digits = std::to_string(stepsDone);
    digits.insert(0, digits.size() < 9 ? 9 - digits.size() : 0, '0');
    return std::string(kFolderPrefix) + digits;
}

void removeOthers(const fs::path& checkpoints, const fs::path& kept)
{
    std::error_code error;
    std::vector<fs::path> others;
    for (const auto& entry : fs::directory_iterator(checkpoints, error)) {
        if (entry.path() != kept && entry.path().filename().string().starts_with(kFolderPrefix))
            others.push_back(entry.path());
    }
    for (const auto& other : others)
        fs::remove_all(other, error); // one that stays does no harm
}

std::uint64_t bytesIn(const fs::path& folder)
{
    std::error_code error;
    std::uint64_t bytes = 0;
    for (const auto& entry : fs::directory_iterator(folder, error))
        bytes += entry.file_size(error);
    return bytes;
}

/// Deletes what was written aside, unless it was put into place.
class Aside {
public:
    explicit Aside(fs::path folder) : m_folder(std::move(folder)) {}
    ~Aside()
    {
        std::error_code error;
        fs::remove_all(m_folder, error);
    }
    Aside(const Aside&) = delete;
    Aside& operator=(const Aside&) = delete;

private:
    fs::path m_folder;
};

} // namespace

Result<void> verifyCheckpoint(const fs::path& folder)
{
    auto manifest = readManifest(folder);
    if (!manifest)
        return manifest.error();
    for (const auto& [name, expected] : manifest->at("files").items()) {
        if (auto checked = checkFile(folder / name, expected); !checked)
            return checked;
    }
    return {};
}

Result<SavedCheckpoint> writeCheckpoint(const fs::path& checkpoints, std::int64_t stepsDone,
                                        const TrainerState& state)
{
    const fs::path final = checkpoints / folderName(stepsDone);
    const fs::path aside = checkpoints / ("." + folderName(stepsDone) + ".new");
    const Aside cleanUp(aside);
    std::error_code error;
    fs::remove_all(aside, error);
    if (!fs::create_directories(aside, error) && error)
        return Error{ErrorCode::Io, aside.string() + " cannot be made: " + error.message(),
                     "Check that you may write there."};
    if (auto written = writeFiles(aside, stepsDone, state); !written)
        return written.error();
    if (auto verified = verifyCheckpoint(aside); !verified)
        return verified.error();
    const fs::path replaced = checkpoints / ("." + folderName(stepsDone) + ".old");
    const Aside cleanUpReplaced(replaced);
    fs::remove_all(replaced, error);
    fs::rename(final, replaced, error); // fails where there is none, which is the rule
    fs::rename(aside, final, error);
    if (error) {
        const std::string why = error.message();
        fs::rename(replaced, final, error);
        return Error{ErrorCode::Io, final.string() + " cannot be put into place: " + why, {}};
    }
    if (auto synced = syncToDisk(checkpoints); !synced)
        return synced.error();
    auto sum = sha256OfFile(final / kManifestFile);
    if (!sum)
        return sum.error();
    removeOthers(checkpoints, final);
    return SavedCheckpoint{final, bytesIn(final), *sum};
}

Result<TrainerState> readCheckpoint(const fs::path& folder)
{
    auto manifest = readManifest(folder);
    if (!manifest)
        return manifest.error();
    if (auto verified = verifyCheckpoint(folder); !verified)
        return verified.error();
    auto model = readSafetensors(folder / kModelFile);
    if (!model)
        return model.error();
    auto training = readSafetensors(folder / kTrainingFile);
    if (!training)
        return training.error();
    const auto buffers = manifest->value("buffers", std::vector<std::string>());
    TrainerState state;
    for (auto& [name, tensor] : *model) {
        const bool isBuffer = std::find(buffers.begin(), buffers.end(), name) != buffers.end();
        state.tensors.emplace_back(std::string(isBuffer ? kBufferPrefix : kWeightPrefix) + name,
                                   std::move(tensor));
    }
    std::move(training->begin(), training->end(), std::back_inserter(state.tensors));
    std::ifstream in(folder / kJsonFile);
    state.json.assign(std::istreambuf_iterator<char>(in), {});
    return state;
}

} // namespace mantissa
