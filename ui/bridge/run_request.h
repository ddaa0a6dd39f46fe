#pragma once

#include "engine/core/training_service.h"

#include <cstdint>
#include <filesystem>
#include <string>

namespace mantissa::ui {

/// A set-up as a run to start: read, checked and planned. The error is what keeps it from starting.
Result<RunRequest> requestFor(const std::string& setupText, const std::string& name,
                              const std::filesystem::path& history);

/// A replay of the steps up to one of a stored run, in which every layer is looked at. Reads files: not for
/// the window's thread.
Result<RunRequest> rewindRequest(const std::filesystem::path& run, std::int64_t toStep,
                                 const std::filesystem::path& history);

} // namespace mantissa::ui
