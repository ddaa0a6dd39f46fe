#pragma once

#include "engine/core/result.h"

#include <chrono>
#include <filesystem>
#include <string>
#include <string_view>

namespace mantissa {

/// What each file of a run's folder is called.
inline constexpr const char* kRunFile = "run.sqlite";
inline constexpr const char* kSetupFile = "setup.yaml";
inline constexpr const char* kCheckpointFolder = "checkpoints";
inline constexpr const char* kLogFile = "log.txt";
inline constexpr const char* kAnnotationsFile = "annotations.json";

/// Eight characters of 0-9a-z without those that look alike.
std::string newRunId();

/// "2026-11-30T20:44:09Z"
std::string utcText(std::chrono::system_clock::time_point time);

/// A name as a part of a folder's name: no separators, no leading dot, at most 40 bytes, never empty.
std::string fileSafe(std::string_view name);

/// `<date-time>-<name>-<id>`, in UTC so that folders sort by age.
std::string runFolderName(std::chrono::system_clock::time_point started, std::string_view name,
                          std::string_view id);

/// A folder being filled under a hidden name. Removed again unless it was published, so that nobody ever sees
/// half a run.
class StagedFolder {
public:
    static Result<StagedFolder> make(const std::filesystem::path& history, const std::string& id);
    StagedFolder(StagedFolder&& other) noexcept;
    StagedFolder& operator=(StagedFolder&&) = delete;
    ~StagedFolder();

    const std::filesystem::path& path() const { return m_path; }
    Result<void> write(const char* file, std::string_view text) const;
    /// Gives the folder its name, at once and for all. Fails where that name is taken.
    Result<std::filesystem::path> publish(const std::string& name);

private:
    explicit StagedFolder(std::filesystem::path path) : m_path(std::move(path)) {}

    std::filesystem::path m_path;
};

} // namespace mantissa
