#include "engine/history/run_reader.h"

#include "engine/core/guarded.h"
#include "engine/history/histogram_rows.h"
#include "engine/history/run_connection.h"
#include "engine/history/run_summary.h"
#include "engine/history/schema.h"

#include <bit>
#include <cstring>
#include <utility>

namespace mantissa {
namespace {

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

    Result<RunSummaryRow> summary() const override
    {
        return withDatabase<RunSummaryRow>(
            [&](SQLite::Database& database) { return readSummary(database, m_source.folder()); });
    }
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

    Result<StoredSetup> readSetup(SQLite::Database& database) const;
    Result<std::vector<SeriesSpec>> readSeries(SQLite::Database& database) const;
    Result<std::vector<RunEvent>> readEvents(SQLite::Database& database) const;
    Result<std::vector<CheckpointRecord>> readCheckpoints(SQLite::Database& database) const;
    Result<SeriesPoints> readPoints(SQLite::Database& database, const SeriesSpec& spec) const;

    RunSource m_source;
};

Result<StoredSetup> FileRunReader::readSetup(SQLite::Database& database) const
{
    SQLite::Statement select(
        database, "SELECT yaml, effective, findings, assumed, environment FROM setup ORDER BY seq LIMIT 1");
    if (!select.executeStep())
        return Error{ErrorCode::Damaged,
                     "The history file is damaged: " + m_source.file().string() + " holds no set-up.",
                     kDamageHint};
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
                     "mantissa-cli show lists the series of a run."};
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
                         "The history file is damaged: a block of " + spec.name + " in "
                             + m_source.file().string() + " has another length than it says.",
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
