#include "engine/history/run_reader.h"

#include "engine/core/guarded.h"
#include "engine/history/annotations.h"
#include "engine/history/histogram_rows.h"
#include "engine/history/run_connection.h"
#include "engine/history/run_folder.h"
#include "engine/history/schema.h"
#include "engine/history/writing_process.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstring>
#include <utility>

namespace mantissa {
namespace {

std::string text(const RunMeta& meta, std::string_view key)
{
    const auto entry = meta.find(key);
    return entry == meta.end() ? std::string() : entry->second;
}

template <typename Number>
Number number(const RunMeta& meta, std::string_view key, Number fallback)
{
    const std::string value = text(meta, key);
    Number parsed = fallback;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), parsed);
    return error == std::errc() && end == value.data() + value.size() ? parsed : fallback;
}

RunState stateNamed(std::string_view id)
{
    for (int state = 0; state <= static_cast<int>(RunState::Interrupted); ++state)
        if (runStateId(static_cast<RunState>(state)) == id)
            return static_cast<RunState>(state);
    return RunState::Interrupted;
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
    row.state = stateNamed(text(meta, "state"));
    if (!hasEnded(row.state)) {
        const WritingProcess writer = {row.host, text(meta, "boot_id"), number(meta, "pid", 0L),
                                       text(meta, "process_start")};
        const auto liveness = livenessOf(writer);
        if (liveness == Liveness::OtherHost) {
            const std::chrono::duration<double> now = std::chrono::system_clock::now().time_since_epoch();
            row.silentSeconds = std::max(0.0, now.count() - number(meta, "last_beat", now.count()));
        }
        if (liveness != Liveness::Alive)
            row.state = RunState::Interrupted;
    }
    row.stateText = row.silentSeconds >= 0.0 ? silenceText(row.silentSeconds, row.host)
                                             : std::string(runStateId(row.state));
}

template <typename T>
bool appendBlob(const SQLite::Column& column, std::int64_t count, std::vector<T>& into)
{
    static_assert(sizeof(T) == 8 && std::endian::native == std::endian::little);
    if (count < 0 || count > (1 << 24) || column.getBytes() != static_cast<int>(count * 8))
        return false;
    const auto before = into.size();
    into.resize(before + static_cast<std::size_t>(count));
    if (count > 0)
        std::memcpy(into.data() + before, column.getBlob(), static_cast<std::size_t>(count) * 8);
    return true;
}

class FileRunReader final : public RunReader {
public:
    explicit FileRunReader(const std::filesystem::path& folder) : m_source(folder) {}

    Result<RunSummaryRow> summary() const override { return ask<RunSummaryRow>(&FileRunReader::readSummary); }
    Result<StoredSetup> setup() const override { return ask<StoredSetup>(&FileRunReader::readSetup); }
    Result<std::vector<SeriesSpec>> series() const override
    {
        return ask<std::vector<SeriesSpec>>(&FileRunReader::readSeries);
    }
    Result<std::vector<RunEvent>> events() const override
    {
        return ask<std::vector<RunEvent>>(&FileRunReader::readEvents);
    }
    Result<std::vector<CheckpointRecord>> checkpoints() const override
    {
        return ask<std::vector<CheckpointRecord>>(&FileRunReader::readCheckpoints);
    }
    Result<std::vector<TensorHistogram>> histograms(std::int64_t firstStep,
                                                    std::int64_t lastStep) const override
    {
        return withDatabase<std::vector<TensorHistogram>>([&](SQLite::Database& database) {
            return Result<std::vector<TensorHistogram>>(readHistograms(database, firstStep, lastStep));
        });
    }
    Result<SeriesPoints> points(const SeriesSpec& spec) const override
    {
        return withDatabase<SeriesPoints>(
            [&](SQLite::Database& database) { return readPoints(database, spec); });
    }

private:
    template <typename T>
    Result<T> ask(Result<T> (FileRunReader::*read)(SQLite::Database&) const) const
    {
        return withDatabase<T>([&](SQLite::Database& database) { return (this->*read)(database); });
    }

    template <typename T, typename Read>
    Result<T> withDatabase(Read&& read) const
    {
        return guarded("reading the history", [&]() -> Result<T> {
            const auto database = m_source.open();
            if (!database)
                return database.error();
            try {
                return read(**database);
            } catch (const SQLite::Exception& exception) {
                return historyError(exception, m_source.file());
            }
        });
    }

    Result<RunSummaryRow> readSummary(SQLite::Database& database) const;
    Result<StoredSetup> readSetup(SQLite::Database& database) const;
    Result<std::vector<SeriesSpec>> readSeries(SQLite::Database& database) const;
    Result<std::vector<RunEvent>> readEvents(SQLite::Database& database) const;
    Result<std::vector<CheckpointRecord>> readCheckpoints(SQLite::Database& database) const;
    Result<SeriesPoints> readPoints(SQLite::Database& database, const SeriesSpec& spec) const;

    RunSource m_source;
};

Result<RunSummaryRow> FileRunReader::readSummary(SQLite::Database& database) const
{
    const auto meta = readMeta(database);
    RunSummaryRow row;
    row.id = text(meta, "id");
    row.name = text(meta, "name");
    row.folder = m_source.folder();
    row.kind = text(meta, "kind");
    row.host = text(meta, "host");
    row.started = text(meta, "started");
    row.ended = text(meta, "ended");
    row.steps = number(meta, "last_step", std::int64_t{-1}) + 1;
    row.lostPoints = number(meta, "lost", std::uint64_t{0});
    row.parentRun = text(meta, "parent_run");
    row.parentStep = number(meta, "parent_step", std::int64_t{-1});
    resolveState(meta, row);
    if (const auto annotations = readAnnotations(m_source.folder()); annotations && annotations->name)
        row.name = *annotations->name;
    return row;
}

Result<StoredSetup> FileRunReader::readSetup(SQLite::Database& database) const
{
    SQLite::Statement select(
        database, "SELECT yaml, effective, findings, assumed, environment FROM setup ORDER BY seq LIMIT 1");
    if (!select.executeStep())
        return StoredSetup{};
    return StoredSetup{select.getColumn(0).getString(), select.getColumn(1).getString(),
                       select.getColumn(2).getString(), select.getColumn(3).getString(),
                       select.getColumn(4).getString()};
}

Result<std::vector<SeriesSpec>> FileRunReader::readSeries(SQLite::Database& database) const
{
    std::vector<SeriesSpec> series;
    SQLite::Statement select(database,
                             "SELECT name, unit, rank, split, deterministic FROM series ORDER BY id");
    while (select.executeStep())
        series.push_back({select.getColumn(0).getString(), select.getColumn(1).getString(),
                          select.getColumn(2).getInt(), select.getColumn(3).getString(),
                          select.getColumn(4).getInt() != 0});
    return series;
}

Result<std::vector<RunEvent>> FileRunReader::readEvents(SQLite::Database& database) const
{
    std::vector<RunEvent> events;
    SQLite::Statement select(
        database, "SELECT step, time, kind, stage, rank, layer, message, detail FROM event ORDER BY seq");
    while (select.executeStep())
        events.push_back({select.getColumn(0).getInt64(), select.getColumn(1).getDouble(),
                          select.getColumn(2).getString(), select.getColumn(3).getString(),
                          select.getColumn(4).getInt(), select.getColumn(5).getString(),
                          select.getColumn(6).getString(), select.getColumn(7).getString()});
    return events;
}

Result<std::vector<CheckpointRecord>> FileRunReader::readCheckpoints(SQLite::Database& database) const
{
    std::vector<CheckpointRecord> checkpoints;
    SQLite::Statement select(database,
                             "SELECT step, path, bytes, sha256, kept FROM checkpoint ORDER BY step, path");
    while (select.executeStep())
        checkpoints.push_back({select.getColumn(0).getInt64(), select.getColumn(1).getString(),
                               static_cast<std::uint64_t>(select.getColumn(2).getInt64()),
                               select.getColumn(3).getString(), select.getColumn(4).getInt() != 0});
    return checkpoints;
}

Result<SeriesPoints> FileRunReader::readPoints(SQLite::Database& database, const SeriesSpec& spec) const
{
    SQLite::Transaction snapshot(database); // The writer may fold the tail between two reads.
    SQLite::Statement find(database, "SELECT id FROM series WHERE name = ? AND rank = ? AND split = ?");
    find.bind(1, spec.name);
    find.bind(2, spec.rank);
    find.bind(3, spec.split);
    if (!find.executeStep())
        return Error{ErrorCode::NotFound,
                     "The run has no series " + spec.name + " of rank " + std::to_string(spec.rank) + ".",
                     {}};
    const std::int64_t id = find.getColumn(0).getInt64();
    SeriesPoints points;
    points.spec = spec;
    SQLite::Statement chunk(
        database, "SELECT count, steps, times, \"values\" FROM chunk WHERE series = ? ORDER BY first_seq");
    chunk.bind(1, id);
    while (chunk.executeStep()) {
        const std::int64_t count = chunk.getColumn(0).getInt64();
        if (!appendBlob(chunk.getColumn(1), count, points.step)
            || !appendBlob(chunk.getColumn(2), count, points.time)
            || !appendBlob(chunk.getColumn(3), count, points.value))
            return Error{ErrorCode::Damaged,
                         "The history file is damaged: a block of " + spec.name
                             + " has another length than it says.",
                         "Nothing was changed. The other series can still be read."};
    }
    SQLite::Statement tail(database, "SELECT step, time, bits FROM tail WHERE series = ? ORDER BY seq");
    tail.bind(1, id);
    while (tail.executeStep()) {
        points.step.push_back(tail.getColumn(0).getInt64());
        points.time.push_back(tail.getColumn(1).getDouble());
        points.value.push_back(std::bit_cast<double>(tail.getColumn(2).getInt64()));
    }
    return points;
}

} // namespace

Result<RunSummaryRow> summarizeRun(const std::filesystem::path& folder)
{
    return FileRunReader(folder).summary();
}

Result<std::unique_ptr<RunReader>> RunReader::open(const std::filesystem::path& folder)
{
    auto reader = std::make_unique<FileRunReader>(folder);
    if (const auto summary = reader->summary(); !summary)
        return summary.error();
    return std::unique_ptr<RunReader>(std::move(reader));
}

} // namespace mantissa
