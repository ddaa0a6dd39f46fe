#include "engine/history/new_run_file.h"

#include "engine/history/run_folder.h"
#include "engine/history/schema.h"
#include "engine/history/writing_process.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <sqlite3.h>

#include <iomanip>
#include <sstream>
#include <utility>
#include <vector>

namespace mantissa {
namespace {

void putMeta(SQLite::Database& database, const std::vector<std::pair<std::string, std::string>>& entries)
{
    SQLite::Statement insert(database, "INSERT OR REPLACE INTO meta(key, value) VALUES(?, ?)");
    for (const auto& [key, value] : entries) {
        insert.reset();
        insert.bind(1, key);
        insert.bind(2, value);
        insert.exec();
    }
}

void putSetup(SQLite::Database& database, const RunStart& start)
{
    SQLite::Statement insert(database, "INSERT INTO setup VALUES(0, ?, ?, ?, ?, '[]', ?)");
    int column = 0;
    for (const auto* text :
         {&start.setupText, &start.effective, &start.findings, &start.assumed, &start.environment})
        insert.bind(++column, *text);
    insert.exec();
}

void putSeries(SQLite::Database& database, const std::vector<SeriesSpec>& series)
{
    SQLite::Statement insert(database, "INSERT INTO series VALUES(?, ?, ?, ?, ?, ?)");
    for (std::size_t i = 0; i < series.size(); ++i) {
        insert.reset();
        insert.bind(1, static_cast<std::int64_t>(i));
        insert.bind(2, series[i].name);
        insert.bind(3, series[i].unit);
        insert.bind(4, series[i].rank);
        insert.bind(5, series[i].split);
        insert.bind(6, series[i].deterministic ? 1 : 0);
        insert.exec();
    }
}

} // namespace

std::string unixSeconds(std::chrono::system_clock::time_point time)
{
    const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(time.time_since_epoch()).count();
    std::ostringstream text;
    text << ms / 1000 << '.' << std::setw(3) << std::setfill('0') << ms % 1000;
    return text.str();
}

void makeRunFile(const std::filesystem::path& file, const RunStart& start, const std::string& id,
                 std::chrono::system_clock::time_point now)
{
    SQLite::Database database(file.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
    database.exec("PRAGMA synchronous = NORMAL");
    migrateHistory(database);
    const auto process = thisProcess();
    SQLite::Transaction transaction(database);
    putMeta(database,
            {{"id", id},
             {"name", start.name},
             {"kind", start.kind},
             {"state", std::string(runStateId(RunState::Queued))},
             {"host", process.host},
             {"pid", std::to_string(process.pid)},
             {"boot_id", process.bootId},
             {"process_start", process.startTicks},
             {"started", utcText(now)},
             {"last_beat", unixSeconds(now)},
             {"last_step", "-1"},
             {"mantissa", MANTISSA_VERSION},
             {"sqlite", sqlite3_libversion()}});
    if (!start.parentRun.empty())
        putMeta(database,
                {{"parent_run", start.parentRun}, {"parent_step", std::to_string(start.parentStep)}});
    putSetup(database, start);
    putSeries(database, start.series);
    transaction.commit();
}

} // namespace mantissa
