#pragma once

#include "engine/core/result.h"

#include <cstdint>
#include <filesystem>
#include <string>

namespace SQLite {
class Database;
class Exception;
} // namespace SQLite

namespace mantissa {

inline constexpr std::int32_t kHistoryApplicationId = 0x4D414E54; ///< "MANT"
inline constexpr int kHistoryVersion = 1; ///< user_version of the newest schema.
inline constexpr std::size_t kChunkPoints = 1024;

/// The way out of every damage.
inline constexpr const char* kDamageHint =
    "Nothing was changed. A copy of the folder from before can be put in its place.";

/// Brings a file from its user_version to the newest one in one transaction. Throws SQLite::Exception.
void migrateHistory(SQLite::Database& database);

/// Damaged, with what to do, where the file is not a history file, or is of a newer version.
Result<void> checkHistoryFile(SQLite::Database& database, const std::filesystem::path& file);

/// What SQLite said, in words that name the file and the way out.
Error historyError(const SQLite::Exception& exception, const std::filesystem::path& file);

} // namespace mantissa
