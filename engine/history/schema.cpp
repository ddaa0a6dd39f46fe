#include "engine/history/schema.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <sqlite3.h>

#include <array>

namespace mantissa {
namespace {

// Measured values are stored as IEEE bits (an INTEGER in tail, doubles in the BLOBs of chunk), because SQLite
// turns a bound NaN into NULL. The extremes of a chunk are over its finite values and NULL where there are
// none.
constexpr const char* kVersion1 = R"sql(
CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE setup(seq INTEGER PRIMARY KEY, yaml TEXT NOT NULL, effective TEXT NOT NULL, findings TEXT NOT NULL,
    assumed TEXT NOT NULL, suppressed TEXT NOT NULL, environment TEXT NOT NULL) STRICT;
CREATE TABLE series(id INTEGER PRIMARY KEY, name TEXT NOT NULL, unit TEXT NOT NULL, rank INTEGER NOT NULL,
    split TEXT NOT NULL, deterministic INTEGER NOT NULL, UNIQUE(name, rank, split)) STRICT;
CREATE TABLE tail(series INTEGER NOT NULL REFERENCES series(id), seq INTEGER NOT NULL, step INTEGER NOT NULL,
    time REAL NOT NULL, bits INTEGER NOT NULL, PRIMARY KEY(series, seq)) STRICT, WITHOUT ROWID;
CREATE TABLE chunk(series INTEGER NOT NULL REFERENCES series(id), first_seq INTEGER NOT NULL, count INTEGER NOT NULL,
    steps BLOB NOT NULL, times BLOB NOT NULL, "values" BLOB NOT NULL, min REAL, max REAL, first REAL, last REAL,
    nan INTEGER NOT NULL, pos_inf INTEGER NOT NULL, neg_inf INTEGER NOT NULL, PRIMARY KEY(series, first_seq)) STRICT;
CREATE TABLE event(seq INTEGER PRIMARY KEY, step INTEGER NOT NULL, time REAL NOT NULL, kind TEXT NOT NULL,
    stage TEXT NOT NULL, rank INTEGER NOT NULL, layer TEXT NOT NULL, message TEXT NOT NULL, detail TEXT NOT NULL) STRICT;
CREATE TABLE histogram(step INTEGER NOT NULL, tensor TEXT NOT NULL, quantity TEXT NOT NULL, counts BLOB NOT NULL,
    below INTEGER NOT NULL, above INTEGER NOT NULL, zeros INTEGER NOT NULL, nonfinite INTEGER NOT NULL,
    PRIMARY KEY(step, tensor, quantity)) STRICT;
CREATE TABLE checkpoint(path TEXT PRIMARY KEY, step INTEGER NOT NULL, bytes INTEGER NOT NULL, sha256 TEXT NOT NULL,
    kept INTEGER NOT NULL) STRICT;
)sql";

// kMigrations[n] brings a file from version n to n + 1. Published entries never change; tests keep a file of
// each version.
constexpr std::array<const char*, kHistoryVersion> kMigrations = {kVersion1};

} // namespace

void migrateHistory(SQLite::Database& database)
{
    SQLite::Transaction transaction(database, SQLite::TransactionBehavior::IMMEDIATE);
    const int version = database.execAndGet("PRAGMA user_version").getInt();
    for (int from = version; from < kHistoryVersion; ++from)
        database.exec(kMigrations.at(static_cast<std::size_t>(from)));
    database.exec("PRAGMA application_id = " + std::to_string(kHistoryApplicationId));
    database.exec("PRAGMA user_version = " + std::to_string(kHistoryVersion));
    transaction.commit();
}

Result<void> checkHistoryFile(SQLite::Database& database, const std::filesystem::path& file)
{
    if (database.execAndGet("PRAGMA application_id").getInt() != kHistoryApplicationId)
        return Error{ErrorCode::Damaged, file.string() + " is not a history file of Mantissa.",
                     "Another program wrote it, or it was cut off. Move the folder out of the history."};
    const int version = database.execAndGet("PRAGMA user_version").getInt();
    if (version > kHistoryVersion)
        return Error{ErrorCode::Damaged,
                     file.string() + " was written by a newer Mantissa: history version "
                         + std::to_string(version) + ", and this one reads up to "
                         + std::to_string(kHistoryVersion) + ".",
                     "Open it with the newer version. Nothing was changed."};
    if (version < 1)
        return Error{ErrorCode::Damaged, file.string() + " has no history version.",
                     "The file was cut off while it was made."};
    return {};
}

Error historyError(const SQLite::Exception& exception, const std::filesystem::path& file)
{
    const std::string reason = file.string() + ": " + exception.what();
    switch (exception.getErrorCode() & 0xFF) {
    case SQLITE_FULL:
        return {ErrorCode::Io, "No space is left for the history: " + reason + ".",
                "Free some space on that disk."};
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    case SQLITE_ERROR: // A table or column that is missing.
    case SQLITE_FORMAT:
    case SQLITE_MISMATCH:
        return {ErrorCode::Damaged, "The history file is damaged: " + reason + ".", kDamageHint};
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return {ErrorCode::Io, "Another program holds the history file: " + reason + ".",
                "Try again when it is done."};
    default:
        return {ErrorCode::Io, "The history file cannot be used: " + reason + ".",
                "Check that the folder exists and that you may write to it."};
    }
}

} // namespace mantissa
