#include "engine/history/run_store.h"

#include "engine/core/counted.h"
#include "engine/history/histogram_rows.h"
#include "engine/history/new_run_file.h"
#include "engine/history/run_folder.h"
#include "engine/history/schema.h"
#include "engine/history/writing_process.h"

#include <sqlite3.h>

#include <bit>
#include <chrono>
#include <cmath>
#include <sys/stat.h>
#include <thread>
#include <utility>

namespace mantissa {
namespace {

using Clock = std::chrono::system_clock;

/// How many points are held while the disk takes none: 24 MB.
constexpr std::size_t kMostWaiting = 1'000'000;

/// Space that a full disk gives back, so that a run's end can always be written down.
constexpr const char* kReserveFile = ".reserve";
constexpr std::size_t kReserveBytes = 128 * 1024;

} // namespace

struct RunStore::Statements {
    explicit Statements(SQLite::Database& database)
        : tail(database, "INSERT OR REPLACE INTO tail VALUES(?, ?, ?, ?, ?)"),
          fold(database, "DELETE FROM tail WHERE series = ? AND seq < ?"),
          chunk(database, "INSERT OR REPLACE INTO chunk VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"),
          event(database,
                "INSERT INTO event(step, time, kind, stage, rank, layer, message, detail) "
                "VALUES(?, ?, ?, ?, ?, ?, ?, ?)"),
          checkpoint(database, "INSERT OR REPLACE INTO checkpoint VALUES(?, ?, ?, ?, ?)"),
          meta(database, "INSERT OR REPLACE INTO meta(key, value) VALUES(?, ?)")
    {
    }
    SQLite::Statement tail;
    SQLite::Statement fold;
    SQLite::Statement chunk;
    SQLite::Statement event;
    SQLite::Statement checkpoint;
    SQLite::Statement meta;
};

RunStore::RunStore(std::string id, std::filesystem::path folder, std::size_t seriesCount)
    : m_id(std::move(id)), m_folder(std::move(folder)), m_columns(seriesCount)
{
}

RunStore::~RunStore() = default;

Result<std::unique_ptr<RunStore>> RunStore::create(const RunStart& start)
{
    const std::string id = newRunId();
    const auto now = Clock::now();
    auto staged = StagedFolder::make(std::filesystem::absolute(start.history), id);
    if (!staged)
        return staged.error();
    if (const auto written = staged->write(kSetupFile, start.setupText); !written)
        return written.error();
    try {
        makeRunFile(staged->path() / kRunFile, start, id, now);
    } catch (const SQLite::Exception& exception) {
        return historyError(exception, staged->path() / kRunFile);
    }
    const auto folder = staged->publish(runFolderName(now, start.name, id));
    if (!folder)
        return folder.error();
    std::unique_ptr<RunStore> store(new RunStore(id, *folder, start.series.size()));
    if (const auto opened = store->open(); !opened)
        return opened.error();
    return store;
}

Result<void> RunStore::open()
{
    const auto file = m_folder / kRunFile;
    try {
        m_database = std::make_unique<SQLite::Database>(file.string(), SQLite::OPEN_READWRITE, 2000);
        m_database->exec("PRAGMA foreign_keys = ON");
        std::string journal = "delete";
        if (!isOnNetwork(m_folder))
            journal = m_database->execAndGet("PRAGMA journal_mode = WAL").getString();
        m_database->exec(journal == "wal" ? "PRAGMA synchronous = NORMAL" : "PRAGMA synchronous = FULL");
        m_statements = std::make_unique<Statements>(*m_database);
        writeMeta("journal", journal);
    } catch (const SQLite::Exception& exception) {
        return historyError(exception, file);
    }
    struct stat status = {};
    if (stat(file.c_str(), &status) == 0)
        m_inode = status.st_ino;
    m_log.open(m_folder / kLogFile, std::ios::app);
    std::ofstream(m_folder / kReserveFile, std::ios::binary) << std::string(kReserveBytes, '\0');
    return {};
}

void RunStore::add(const std::vector<Sample>& samples)
{
    for (const auto& sample : samples) {
        if (sample.series < 0 || static_cast<std::size_t>(sample.series) >= m_columns.size()) {
            ++m_strays;
        } else if (m_waiting >= kMostWaiting) {
            ++m_lost;
        } else {
            auto& column = m_columns[static_cast<std::size_t>(sample.series)];
            column.steps.push_back(sample.step);
            column.times.push_back(std::isfinite(sample.time) ? sample.time : 0.0);
            column.values.push_back(sample.value);
            m_lastStep = std::max(m_lastStep, sample.step);
            ++m_waiting;
        }
    }
}

void RunStore::add(RunEvent event)
{
    if (event.kind != "stage_trace")
        log(event.kind + (event.rank >= 0 ? " rank " + std::to_string(event.rank) : "") + " step "
            + std::to_string(event.step) + ": " + event.message);
    m_lastStep = std::max(m_lastStep, event.kind == "skipped" ? event.step : m_lastStep);
    if (m_events.size() < kMostWaiting / 10)
        m_events.push_back(std::move(event));
    else
        ++m_lost;
}

void RunStore::add(CheckpointRecord checkpoint)
{
    log("checkpoint step " + std::to_string(checkpoint.step) + ": " + checkpoint.path);
    m_checkpoints.push_back(std::move(checkpoint));
}

void RunStore::add(std::vector<TensorHistogram> histograms)
{
    if (m_histograms.size() >= kMostWaiting / 100) // a hundred times the size of a point
        m_lost += histograms.size();
    else
        std::move(histograms.begin(), histograms.end(), std::back_inserter(m_histograms));
}

void RunStore::setState(RunState state)
{
    log(std::string(runStateId(state)));
    m_state = state;
}

Result<void> RunStore::isStillThere() const
{
    const auto file = m_folder / kRunFile;
    struct stat status = {};
    // SQLite goes on writing to a deleted file without a word.
    if (stat(file.c_str(), &status) != 0 || status.st_ino != m_inode)
        return Error{ErrorCode::Io,
                     "The run's folder is gone: " + m_folder.string() + ". What the run records is lost.",
                     "Somebody moved or deleted it. Stop the run and start it again."};
    return {};
}

Result<void> RunStore::commit()
{
    if (const auto there = isStillThere(); !there)
        return there.error();
    try {
        SQLite::Transaction transaction(*m_database, SQLite::TransactionBehavior::IMMEDIATE);
        writePoints();
        writeEvents();
        writeHistograms(*m_database, m_histograms);
        if (m_state)
            writeMeta("state", std::string(runStateId(*m_state)));
        if (!m_ended.empty())
            writeMeta("ended", m_ended);
        if (m_lost > 0)
            writeMeta("lost", std::to_string(m_lost));
        writeMeta("last_step", std::to_string(m_lastStep));
        writeMeta("last_beat", unixSeconds(Clock::now()));
        transaction.commit();
    } catch (const SQLite::Exception& exception) {
        return historyError(exception, m_folder / kRunFile);
    }
    settle();
    if (m_strays > 0)
        return Error{
            ErrorCode::Internal,
            counted(static_cast<std::int64_t>(std::exchange(m_strays, 0)), "point")
                + " recorded for no series of this run.",
            "The run goes on; what it announced is complete. This is a fault of the engine: report it."};
    return {};
}

Result<void> RunStore::close(RunState state, std::int64_t lastStep)
{
    setState(state);
    m_ended = utcText(Clock::now());
    m_lastStep = std::max(m_lastStep, lastStep);
    try {
        m_database->exec("PRAGMA synchronous = FULL");
    } catch (const SQLite::Exception& exception) {
        return historyError(exception, m_folder / kRunFile);
    }
    auto committed = commit();
    std::error_code ignored;
    std::filesystem::remove(m_folder / kReserveFile, ignored);
    if (!committed)
        committed = commit(); // into the space that the reserve held
    if (!committed) {
        giveUpPoints(committed.error());
        (void)commit();
        return committed.error();
    }
    m_statements.reset();
    return leaveWal();
}

/// What cannot be written is let go of, so that the end itself is small enough to be.
void RunStore::giveUpPoints(const Error& error)
{
    for (auto& column : m_columns) {
        column.steps.resize(column.inTail);
        column.times.resize(column.inTail);
        column.values.resize(column.inTail);
    }
    m_lost += m_waiting + m_events.size() + m_checkpoints.size() + m_histograms.size();
    m_waiting = 0;
    m_checkpoints.clear();
    m_histograms.clear();
    RunEvent event;
    event.step = std::max<std::int64_t>(0, m_lastStep);
    event.kind = "history_lost";
    event.message = error.message;
    m_events = {event};
}

// Leaving WAL needs the file to itself for a moment; a reader has it for some milliseconds at most.
Result<void> RunStore::leaveWal()
{
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(3);
    for (;;) {
        try {
            m_database->exec("PRAGMA wal_checkpoint(TRUNCATE)");
            if (m_database->execAndGet("PRAGMA journal_mode = DELETE").getString() == "delete")
                break;
        } catch (const SQLite::Exception& exception) {
            const int code = exception.getErrorCode() & 0xFF;
            if (code == SQLITE_FULL)
                break; // As below: what is committed is read from the -wal.
            if (code != SQLITE_BUSY && code != SQLITE_LOCKED)
                return historyError(exception, m_folder / kRunFile);
        }
        if (std::chrono::steady_clock::now() > deadline)
            break; // Everything is committed; the file only keeps its -wal beside it.
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    m_database.reset();
    return {};
}

void RunStore::writePoints()
{
    for (std::size_t series = 0; series < m_columns.size(); ++series) {
        const auto& column = m_columns[series];
        std::size_t from = 0;
        for (; column.steps.size() - from >= kChunkPoints; from += kChunkPoints)
            writeChunk(series, from);
        if (from > 0 && column.inTail > 0) {
            m_statements->fold.tryReset();
            m_statements->fold.bind(1, static_cast<std::int64_t>(series));
            m_statements->fold.bind(2, column.firstSeq + static_cast<std::int64_t>(from));
            m_statements->fold.exec();
        }
        writeTail(series, std::max(from, column.inTail));
    }
}

void RunStore::writeTail(std::size_t series, std::size_t from)
{
    const auto& column = m_columns[series];
    auto& insert = m_statements->tail;
    for (std::size_t i = from; i < column.steps.size(); ++i) {
        insert.tryReset();
        insert.bind(1, static_cast<std::int64_t>(series));
        insert.bind(2, column.firstSeq + static_cast<std::int64_t>(i));
        insert.bind(3, column.steps[i]);
        insert.bind(4, column.times[i]);
        insert.bind(5, std::bit_cast<std::int64_t>(column.values[i]));
        insert.exec();
    }
    insert.tryReset();
}

void RunStore::writeChunk(std::size_t series, std::size_t from)
{
    const auto& column = m_columns[series];
    auto& insert = m_statements->chunk;
    insert.tryReset();
    insert.clearBindings();
    insert.bind(1, static_cast<std::int64_t>(series));
    insert.bind(2, column.firstSeq + static_cast<std::int64_t>(from));
    insert.bind(3, static_cast<std::int64_t>(kChunkPoints));
    constexpr int kBytes = kChunkPoints * sizeof(double);
    insert.bindNoCopy(4, column.steps.data() + from, kBytes);
    insert.bindNoCopy(5, column.times.data() + from, kBytes);
    insert.bindNoCopy(6, column.values.data() + from, kBytes);
    bool any = false;
    double min = 0.0, max = 0.0, first = 0.0, last = 0.0;
    std::int64_t nan = 0, posInf = 0, negInf = 0;
    for (std::size_t i = from; i < from + kChunkPoints; ++i) {
        const double value = column.values[i];
        if (std::isfinite(value)) {
            min = any ? std::min(min, value) : value;
            max = any ? std::max(max, value) : value;
            first = any ? first : value;
            last = value;
            any = true;
        } else {
            ++(std::isnan(value) ? nan : value > 0 ? posInf : negInf);
        }
    }
    for (int place = 7; const double extreme : {min, max, first, last})
        any ? insert.bind(place++, extreme) : insert.bind(place++);
    for (int place = 11; const std::int64_t count : {nan, posInf, negInf})
        insert.bind(place++, count);
    insert.exec();
    insert.tryReset();
}

void RunStore::writeEvents()
{
    auto& event = m_statements->event;
    for (const auto& one : m_events) {
        event.tryReset();
        event.bind(1, one.step);
        event.bind(2, std::isfinite(one.time) ? one.time : 0.0);
        event.bind(3, one.kind);
        event.bind(4, one.stage);
        event.bind(5, one.rank);
        event.bind(6, one.layer);
        event.bind(7, one.message);
        event.bind(8, one.detail);
        event.exec();
    }
    event.tryReset();
    auto& checkpoint = m_statements->checkpoint;
    for (const auto& one : m_checkpoints) {
        checkpoint.tryReset();
        checkpoint.bind(1, one.path);
        checkpoint.bind(2, one.step);
        checkpoint.bind(3, static_cast<std::int64_t>(one.bytes));
        checkpoint.bind(4, one.sha256);
        checkpoint.bind(5, one.kept ? 1 : 0);
        checkpoint.exec();
    }
    checkpoint.tryReset();
}

void RunStore::writeMeta(const char* key, const std::string& value)
{
    m_statements->meta.tryReset();
    m_statements->meta.bind(1, key);
    m_statements->meta.bind(2, value);
    m_statements->meta.exec();
    m_statements->meta.tryReset();
}

/// After a commit that went through: what it wrote is no longer waiting.
void RunStore::settle()
{
    for (auto& column : m_columns) {
        const std::size_t folded = column.steps.size() / kChunkPoints * kChunkPoints;
        const auto count = static_cast<std::ptrdiff_t>(folded);
        column.steps.erase(column.steps.begin(), column.steps.begin() + count);
        column.times.erase(column.times.begin(), column.times.begin() + count);
        column.values.erase(column.values.begin(), column.values.begin() + count);
        column.firstSeq += count;
        column.inTail = column.steps.size();
    }
    m_events.clear();
    m_checkpoints.clear();
    m_histograms.clear();
    m_state.reset();
    m_waiting = 0;
}

void RunStore::log(const std::string& line)
{
    m_log << utcText(Clock::now()) << ' ' << line << '\n';
    m_log.flush();
}

} // namespace mantissa
