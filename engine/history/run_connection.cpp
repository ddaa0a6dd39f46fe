#include "engine/history/run_connection.h"

#include "engine/core/run_state.h"
#include "engine/history/run_folder.h"
#include "engine/history/schema.h"

#include <sqlite3.h>

#include <cstdlib>
#include <string_view>
#include <system_error>

namespace mantissa {
namespace {

constexpr int kBusyMs = 2000;

bool holdsBytes(const std::filesystem::path& file)
{
    std::error_code error;
    const auto size = std::filesystem::file_size(file, error);
    return !error && size > 0;
}

std::filesystem::path beside(const std::filesystem::path& file, const char* suffix)
{
    return file.string() + suffix;
}

std::string immutableUri(const std::filesystem::path& file)
{
    std::string uri = "file:";
    for (const char c : file.string()) {
        if (c == '?' || c == '#' || c == '%') {
            static constexpr std::string_view kHex = "0123456789ABCDEF";
            uri += {'%', kHex[static_cast<unsigned char>(c) >> 4], kHex[static_cast<unsigned char>(c) & 15]};
        } else {
            uri += c;
        }
    }
    return uri + "?immutable=1";
}

std::unique_ptr<SQLite::Database> connect(const std::string& name, int flags)
{
    auto database = std::make_unique<SQLite::Database>(name, flags, kBusyMs);
    // The file may come from anywhere, and closing must not move the writer's WAL into it.
    sqlite3_db_config(database->getHandle(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
    sqlite3_db_config(database->getHandle(), SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
    database->exec("PRAGMA cell_size_check = ON");
    database->execAndGet(
        "SELECT count(*) FROM sqlite_schema"); // The first read takes locks and finds damage.
    return database;
}

/// Whether somebody may be writing to a file that has no -wal: a run in rollback mode that has not ended.
bool mayChange(SQLite::Database& database)
{
    if (database.execAndGet("PRAGMA application_id").getInt() != kHistoryApplicationId)
        return false;
    const auto meta = readMeta(database);
    const auto state = meta.find("state");
    const auto journal = meta.find("journal");
    const auto ended = {RunState::Finished, RunState::Stopped, RunState::Failed, RunState::Interrupted};
    for (const auto one : ended)
        if (state != meta.end() && state->second == runStateId(one))
            return false;
    return journal != meta.end() && journal->second != "wal";
}

} // namespace

RunSource::~RunSource()
{
    if (m_copy.empty())
        return;
    std::error_code ignored;
    std::filesystem::remove_all(m_copy, ignored);
}

std::filesystem::path RunSource::file() const
{
    return m_folder / kRunFile;
}

Result<std::unique_ptr<SQLite::Database>> RunSource::open() const
{
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(file(), ignored))
        return missingFile();
    auto database = openInPlace();
    if (!database)
        return database;
    try {
        if (const auto ours = checkHistoryFile(**database, file()); !ours)
            return ours.error();
    } catch (const SQLite::Exception& exception) {
        return historyError(exception, file());
    }
    return database;
}

Error RunSource::missingFile() const
{
    std::error_code error;
    const auto status = std::filesystem::status(file(), error);
    const bool missing = status.type() == std::filesystem::file_type::not_found;
    if (error && !missing)
        return {ErrorCode::Io, m_folder.string() + " cannot be read: " + error.message() + ".",
                "Check that you may read the run's folder."};
    if (missing && !std::filesystem::exists(m_folder / kSetupFile, error))
        return {ErrorCode::NotFound, m_folder.string() + " holds no run: there is no " + kRunFile + " in it.",
                "Give the folder of one run; mantissa-cli runs lists what there is."};
    return {ErrorCode::Damaged,
            "The run has lost what it recorded: "
                + (missing ? "there is no " + std::string(kRunFile) + " in " + m_folder.string()
                           : file().string() + " is no file")
                + ".",
            std::string(kSetupFile) + " in that folder still holds its set-up. " + kDamageHint};
}

bool RunSource::isNewer() const
{
    try {
        const auto database = openInPlace();
        return database && (*database)->execAndGet("PRAGMA application_id").getInt() == kHistoryApplicationId
            && (*database)->execAndGet("PRAGMA user_version").getInt() > kHistoryVersion;
    } catch (const SQLite::Exception&) {
        return false;
    }
}

// The file is never opened by other means than SQLite's: closing it would drop the locks of a writer in this
// process.
Result<std::unique_ptr<SQLite::Database>> RunSource::openInPlace() const
{
    std::error_code error;
    try {
        const bool wal = std::filesystem::exists(beside(file(), "-wal"), error);
        if (wal || holdsBytes(beside(file(), "-journal")))
            return connect(file().string(), SQLite::OPEN_READONLY);
        auto database = connect(immutableUri(file()), SQLite::OPEN_READONLY | SQLite::OPEN_URI);
        if (!mayChange(*database))
            return database;
        database.reset();
        return connect(file().string(), SQLite::OPEN_READONLY);
    } catch (const SQLite::Exception& exception) {
        const int code = exception.getErrorCode() & 0xFF;
        if (code == SQLITE_CANTOPEN || code == SQLITE_READONLY)
            return openCopy();
        return historyError(exception, file());
    }
}

Result<std::unique_ptr<SQLite::Database>> RunSource::openCopy() const
{
    const std::scoped_lock lock(m_mutex);
    std::error_code error;
    if (m_copy.empty()) {
        std::string name = (std::filesystem::temp_directory_path(error) / "mantissa-run-XXXXXX").string();
        if (error || !mkdtemp(name.data()))
            return Error{ErrorCode::Io, "There is no place for a copy of " + file().string() + ".",
                         "Set TMPDIR to a folder with space."};
        m_copy = name;
        for (const char* suffix : {"", "-wal", "-journal"}) {
            const auto from = beside(file(), suffix);
            std::error_code missing;
            if (*suffix && !std::filesystem::exists(from, missing))
                continue;
            std::filesystem::copy_file(from, beside(m_copy / kRunFile, suffix), error);
            if (error)
                return Error{ErrorCode::Io, from.string() + " cannot be read: " + error.message() + ".",
                             "Check that you may read the run's folder."};
        }
    }
    try {
        std::filesystem::permissions(m_copy / kRunFile, std::filesystem::perms::owner_write,
                                     std::filesystem::perm_options::add, error);
        return connect((m_copy / kRunFile).string(), SQLite::OPEN_READWRITE);
    } catch (const SQLite::Exception& exception) {
        return historyError(exception, file());
    }
}

RunMeta readMeta(SQLite::Database& database)
{
    RunMeta meta;
    SQLite::Statement select(database, "SELECT key, value FROM meta");
    while (select.executeStep())
        meta.insert_or_assign(select.getColumn(0).getString(), select.getColumn(1).getString());
    return meta;
}

} // namespace mantissa
