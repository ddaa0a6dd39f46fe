#include "engine/checkpoint/checkpoint.h"

#include "engine/checkpoint/checkpoint_manifest.h"
#include "engine/checkpoint/durable_file.h"
#include "engine/checkpoint/joined_parts.h"
#include "engine/checkpoint/safetensors.h"
#include "engine/checkpoint/sha256.h"
#include "engine/core/counted.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <system_error>

namespace mantissa {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kWeightPrefix = "model.";
constexpr std::string_view kBufferPrefix = "buffer.";

Error damaged(const fs::path& what, const std::string& why)
{
    return {ErrorCode::Damaged, what.string() + " is damaged: " + why, "Use another checkpoint."};
}

/// A trainer's tensors by the file that they go to.
struct Files {
    NamedTensors model;
    NamedTensors training;
    std::vector<std::string> buffers;
};

Files filesOf(const TrainerState& state)
{
    Files files;
    for (const auto& [name, tensor] : state.tensors) {
        const std::string_view view = name;
        if (view.starts_with(kWeightPrefix)) {
            files.model.emplace_back(view.substr(kWeightPrefix.size()), tensor);
        } else if (view.starts_with(kBufferPrefix)) {
            files.model.emplace_back(view.substr(kBufferPrefix.size()), tensor);
            files.buffers.push_back(files.model.back().first);
        } else {
            files.training.emplace_back(name, tensor);
        }
    }
    return files;
}

Result<void> describeFile(const fs::path& file, CheckpointManifest& manifest)
{
    if (auto synced = syncToDisk(file); !synced)
        return synced;
    auto sum = sha256OfFile(file);
    if (!sum)
        return sum.error();
    std::error_code error;
    manifest.files[file.filename().string()] = {fs::file_size(file, error), *sum};
    return {};
}

Result<void> writePart(const fs::path& folder, const TrainerState& state, int part,
                       CheckpointManifest& manifest)
{
    const Files files = filesOf(state);
    if (part == 0)
        manifest.buffers = files.buffers;
    const fs::path model = folder / manifest.modelFile(part);
    const fs::path training = folder / manifest.trainingFile(part);
    if (auto written = writeSafetensors(model, files.model, {{"format", "pt"}}); !written)
        return written;
    if (auto described = describeFile(model, manifest); !described)
        return described;
    if (auto written = writeSafetensors(training, files.training); !written)
        return written;
    return describeFile(training, manifest);
}

Result<void> writeFiles(const fs::path& folder, std::int64_t stepsDone,
                        const std::vector<TrainerState>& states)
{
    CheckpointManifest manifest;
    manifest.stepsDone = stepsDone;
    manifest.shapes = states.front().shapes;
    manifest.parts = manifest.shapes.empty() ? 1 : static_cast<int>(states.size());
    for (int part = 0; part < manifest.parts; ++part)
        if (auto written = writePart(folder, states[static_cast<std::size_t>(part)], part, manifest);
            !written)
            return written;
    if (auto written = writeDurably(folder / kPositionFile, states.front().json); !written)
        return written;
    if (auto described = describeFile(folder / kPositionFile, manifest); !described)
        return described;
    if (auto written = writeDurably(folder / kManifestFile, manifestText(manifest)); !written)
        return written;
    return syncToDisk(folder);
}

Result<void> checkFile(const fs::path& file, const CheckpointManifest::File& expected)
{
    std::error_code error;
    const auto bytes = fs::file_size(file, error);
    if (error)
        return damaged(file, error.message());
    if (bytes != expected.bytes)
        return damaged(file,
                       "it has " + counted(static_cast<std::int64_t>(bytes), "byte") + " and should have "
                           + std::to_string(expected.bytes) + ".");
    auto sum = sha256OfFile(file);
    if (!sum)
        return sum.error();
    if (*sum != expected.sha256)
        return damaged(file, "its checksum differs from the manifest's.");
    return {};
}

std::string folderName(std::int64_t stepsDone)
{
    std::string digits = std::to_string(stepsDone);
    digits.insert(0, digits.size() < 9 ? 9 - digits.size() : 0, '0');
    return "step-" + digits;
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

Result<void> verify(const fs::path& folder, const CheckpointManifest& manifest)
{
    for (const auto& [name, expected] : manifest.files) {
        if (auto checked = checkFile(folder / name, expected); !checked)
            return checked;
    }
    return {};
}

/// Replaces what has the name already, and has it back where that fails.
Result<void> putIntoPlace(const fs::path& aside, const fs::path& final)
{
    fs::path replaced = final.parent_path() / ".old-";
    replaced += final.filename();
    const Aside cleanUp(replaced);
    std::error_code error;
    fs::remove_all(replaced, error);
    fs::rename(final, replaced, error); // fails where there is none, which is the rule
    fs::rename(aside, final, error);
    if (error) {
        const std::string why = error.message();
        fs::rename(replaced, final, error);
        return Error{ErrorCode::Io, final.string() + " cannot be put into place: " + why + ".",
                     "Check that the run's folder may be written to and has space. The older checkpoint is "
                     "as it was."};
    }
    return syncToDisk(final.parent_path());
}

} // namespace

Result<void> verifyCheckpoint(const fs::path& folder)
{
    auto manifest = readManifest(folder);
    if (!manifest)
        return manifest.error();
    return verify(folder, *manifest);
}

Result<SavedCheckpoint> writeCheckpoint(const fs::path& checkpoints, std::int64_t stepsDone,
                                        const std::vector<TrainerState>& states)
{
    const fs::path final = checkpoints / folderName(stepsDone);
    const fs::path aside = checkpoints / ("." + folderName(stepsDone) + ".new");
    const Aside cleanUp(aside);
    std::error_code error;
    fs::remove_all(aside, error);
    if (!fs::create_directories(aside, error) && error)
        return Error{ErrorCode::Io, aside.string() + " cannot be made: " + error.message(),
                     "Check that you may write there."};
    if (auto written = writeFiles(aside, stepsDone, states); !written)
        return written.error();
    if (auto verified = verifyCheckpoint(aside); !verified)
        return verified.error();
    if (auto placed = putIntoPlace(aside, final); !placed)
        return placed.error();
    auto sum = sha256OfFile(final / kManifestFile);
    if (!sum)
        return sum.error();
    return SavedCheckpoint{final, bytesIn(final), *sum};
}

Result<TrainerState> readCheckpoint(const fs::path& folder)
{
    const auto manifest = readManifest(folder);
    if (!manifest)
        return manifest.error();
    if (auto verified = verify(folder, *manifest); !verified)
        return verified.error();
    JoinedParts joined(manifest->shapes);
    for (int part = 0; part < manifest->parts; ++part) {
        auto model = readSafetensors(folder / manifest->modelFile(part));
        if (!model)
            return model.error();
        for (auto& [name, tensor] : *model) {
            const bool isBuffer = std::find(manifest->buffers.begin(), manifest->buffers.end(), name)
                != manifest->buffers.end();
            joined.add(std::string(isBuffer ? kBufferPrefix : kWeightPrefix) + name, std::move(tensor));
        }
        auto training = readSafetensors(folder / manifest->trainingFile(part));
        if (!training)
            return training.error();
        for (auto& [name, tensor] : *training)
            joined.add(name, std::move(tensor));
    }
    auto tensors = joined.whole();
    if (!tensors)
        return damaged(folder, tensors.error().message);
    TrainerState state;
    state.tensors = *std::move(tensors);
    std::ifstream in(folder / kPositionFile);
    state.json.assign(std::istreambuf_iterator<char>(in), {});
    return state;
}

} // namespace mantissa
