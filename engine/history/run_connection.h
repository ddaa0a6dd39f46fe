#pragma once

#include "engine/core/result.h"

#include <SQLiteCpp/SQLiteCpp.h>

#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace mantissa {

using RunMeta = std::map<std::string, std::string, std::less<>>;

/// Where a run's file can be opened for reading: in its folder, or, when SQLite would have to repair it in a
/// folder that nobody may write to, in a private copy. Thread-safe.
class RunSource {
public:
    explicit RunSource(std::filesystem::path folder) : m_folder(std::move(folder)) {}
    ~RunSource();

    const std::filesystem::path& folder() const { return m_folder; }
    std::filesystem::path file() const;

    /// A connection that cannot write, to a file that was found to be ours. Short-lived: an open one keeps
    /// the writer from ending the run.
    Result<std::unique_ptr<SQLite::Database>> open() const;

    /// Whether a file that does not open is ours, from a newer version.
    bool isNewer() const;

private:
    Error missingFile() const;
    Result<std::unique_ptr<SQLite::Database>> openInPlace() const;
    Result<std::unique_ptr<SQLite::Database>> openCopy() const;

    std::filesystem::path m_folder;
    mutable std::mutex m_mutex;
    mutable std::filesystem::path m_copy;
};

/// Throws SQLite::Exception.
RunMeta readMeta(SQLite::Database& database);

} // namespace mantissa
