#pragma once

#include "engine/core/result.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace mantissa {

inline constexpr const char* kManifestFile = "manifest.json";
inline constexpr const char* kPositionFile = "training.json";

/// What a checkpoint consists of, as its manifest.json says it.
struct CheckpointManifest {
    struct File {
        std::uint64_t bytes = 0;
        std::string sha256;
    };

    std::int64_t stepsDone = 0;
    int parts = 1; ///< Ranks that wrote a part each; 1: everything is whole.
    std::vector<std::string> buffers; ///< Tensors of the model's file that are no weights.
    std::map<std::string, std::vector<std::int64_t>> shapes; ///< Whole shapes of what is cut into parts.
    std::map<std::string, File> files;

    std::string modelFile(int part) const; ///< "model.safetensors", "model-00002-of-00004.safetensors"
    std::string trainingFile(int part) const;
};

std::string manifestText(const CheckpointManifest& manifest);

/// Reads and checks: NotFound where the folder has none; Damaged where it is not sound, or where it names
/// other files than a checkpoint of so many parts has, so that nothing outside the folder is ever opened.
Result<CheckpointManifest> readManifest(const std::filesystem::path& folder);

} // namespace mantissa
