#include "engine/history/run_summary.h"

#include "engine/history/annotations.h"
#include "engine/history/run_connection.h"
#include "engine/history/run_folder.h"
#include "engine/history/schema.h"
#include "engine/history/writing_process.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace mantissa {
namespace {

std::string text(const RunMeta& meta, std::string_view key)
{
    const auto entry = meta.find(key);
    return entry == meta.end() ? std::string() : entry->second;
}

template <typename Number>
std::optional<Number> number(const RunMeta& meta, std::string_view key)
{
    const std::string value = text(meta, key);
    Number parsed = {};
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), parsed);
    if (value.empty() || error != std::errc() || end != value.data() + value.size())
        return std::nullopt;
    return parsed;
}

std::optional<RunState> stateNamed(std::string_view id)
{
    for (int state = 0; state <= static_cast<int>(RunState::Interrupted); ++state)
        if (runStateId(static_cast<RunState>(state)) == id)
            return static_cast<RunState>(state);
    return std::nullopt;
}

std::string silenceText(double seconds, const std::string& host)
{
    const auto minutes = static_cast<long long>(seconds / 60.0);
    const std::string length = minutes < 120 ? std::to_string(minutes) + " min"
        : minutes < 2 * 24 * 60              ? std::to_string(minutes / 60) + " h"
                                             : std::to_string(minutes / (24 * 60)) + " days";
    return "silent " + length + " (" + host + ")";
}

/// What a run that did not end is, as far as can be told from here.
void resolveState(const RunMeta& meta, RunSummaryRow& row)
{
    if (!hasEnded(row.state)) {
        const WritingProcess writer = {row.host, text(meta, "boot_id"), number<long>(meta, "pid").value_or(0),
                                       text(meta, "process_start")};
        const auto liveness = livenessOf(writer);
        if (liveness == Liveness::OtherHost) {
            const std::chrono::duration<double> now = std::chrono::system_clock::now().time_since_epoch();
            row.silentSeconds =
                std::max(0.0, now.count() - number<double>(meta, "last_beat").value_or(now.count()));
        }
        if (liveness != Liveness::Alive)
            row.state = RunState::Interrupted;
    }
    row.stateText = row.silentSeconds >= 0.0 ? silenceText(row.silentSeconds, row.host)
                                             : std::string(runStateId(row.state));
}

Error damage(const std::filesystem::path& folder, const std::string& what)
{
    return {ErrorCode::Damaged,
            "The history file is damaged: " + (folder / kRunFile).string() + " " + what + ".", kDamageHint};
}

/// Visits each page of the tables that a run is shown from; a page that is no page of theirs makes SQLite
/// throw.
bool hasSoundTables(SQLite::Database& database)
{
    for (const char* table : {"series", "tail", "chunk", "event", "checkpoint"})
        database.execAndGet(std::string("SELECT count(*) FROM ") + table + " NOT INDEXED");
    SQLite::Statement setup(database,
                            "SELECT length(yaml) + length(effective) + length(findings) FROM setup");
    return setup.executeStep();
}

} // namespace

Result<RunSummaryRow> readSummary(SQLite::Database& database, const std::filesystem::path& folder)
{
    const auto meta = readMeta(database);
    for (const char* key : {"id", "name", "kind", "host", "started"})
        if (!meta.contains(key))
            return damage(folder, std::string("does not say the run's ") + key);
    const auto state = stateNamed(text(meta, "state"));
    if (!state)
        return damage(folder, "has no state that a run can have (\"" + text(meta, "state") + "\")");
    const auto lastStep = number<std::int64_t>(meta, "last_step");
    if (!lastStep || *lastStep < -1)
        return damage(folder, "does not say how many steps were made");
    if (!hasSoundTables(database))
        return damage(folder, "holds no set-up");
    RunSummaryRow row;
    row.id = text(meta, "id");
    row.name = text(meta, "name");
    row.folder = folder;
    row.kind = text(meta, "kind");
    row.host = text(meta, "host");
    row.started = text(meta, "started");
    row.ended = text(meta, "ended");
    row.steps = *lastStep + 1;
    row.lostPoints = number<std::uint64_t>(meta, "lost").value_or(0);
    row.parentRun = text(meta, "parent_run");
    row.parentStep = number<std::int64_t>(meta, "parent_step").value_or(-1);
    row.state = *state;
    resolveState(meta, row);
    if (const auto annotations = readAnnotations(folder); annotations && annotations->name)
        row.name = *annotations->name;
    return row;
}

RunSummaryRow unreadableRun(const std::filesystem::path& folder, const Error& error)
{
    RunSummaryRow row;
    row.folder = folder;
    row.name = folder.filename().string();
    // Folders end in the run's id, so that even a run that cannot be read can be named by it.
    row.id = row.name.substr(row.name.rfind('-') + 1);
    row.steps = -1;
    row.stateText = error.code != ErrorCode::Damaged ? "unreadable"
        : RunSource(folder).isNewer()                ? "newer"
                                                     : "damaged";
    row.error = error.message;
    row.hint = error.hint;
    return row;
}

} // namespace mantissa
