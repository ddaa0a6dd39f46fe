#pragma once

#include "engine/core/result.h"
#include "engine/train/trainer_state.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace mantissa {

/// A checkpoint that was written and read back.
struct SavedCheckpoint {
    std::filesystem::path folder;
    std::uint64_t bytes = 0;
    std::string sha256; ///< Of the manifest, which has the sums of the other files.
};

/// Writes `<checkpoints>/step-<steps done>/`: `model.safetensors` (weights and buffers under their PyTorch
/// names), `training.safetensors` (optimizer, random generators), `training.json` and `manifest.json` with
/// sizes and checksums. `states` are those of the ranks; where the first is whole it is all that is written,
/// else each rank has its own two files. Written aside, synced, verified, then renamed. On any error what was
/// there before is still there.
Result<SavedCheckpoint> writeCheckpoint(const std::filesystem::path& checkpoints, std::int64_t stepsDone,
                                        const std::vector<TrainerState>& states);

/// Everything whole again, however many ranks wrote it. Damaged where a file is not what the manifest says.
Result<TrainerState> readCheckpoint(const std::filesystem::path& folder);

/// Checks files against the manifest without keeping a tensor.
Result<void> verifyCheckpoint(const std::filesystem::path& folder);

} // namespace mantissa
