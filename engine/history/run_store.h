#pragma once

#include "engine/history/run_writer.h"

#include <SQLiteCpp/SQLiteCpp.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

namespace mantissa {

/// The SQL side of a run being written: gathers points and puts them into run.sqlite with each commit. Used
/// by one thread at a time. What a failed commit could not write stays gathered, so that the next one makes
/// good for it.
class RunStore {
public:
    static Result<std::unique_ptr<RunStore>> create(const RunStart& start);
    ~RunStore();

    const std::string& id() const { return m_id; }
    const std::filesystem::path& folder() const { return m_folder; }

    void add(const std::vector<Sample>& samples);
    void add(RunEvent event);
    void add(CheckpointRecord checkpoint);
    void add(std::vector<TensorHistogram> histograms);
    void setState(RunState state);

    /// Writes everything gathered and a sign of life, in one transaction.
    Result<void> commit();
    /// The last commit, synced to the disk, and the file left as one that a read-only copy opens. Where the
    /// disk takes no more points, at least the end and what is missing are written down.
    Result<void> close(RunState state, std::int64_t lastStep);
    /// What was given here and will never be in the file.
    std::uint64_t lostCount() const { return m_lost; }

private:
    /// Points since the last chunk. `inTail` of them are in the table `tail` already.
    struct Column {
        std::int64_t firstSeq = 0;
        std::size_t inTail = 0;
        std::vector<std::int64_t> steps;
        std::vector<double> times;
        std::vector<double> values;
    };
    struct Statements;

    RunStore(std::string id, std::filesystem::path folder, std::size_t seriesCount);
    Result<void> open();
    Result<void> isStillThere() const;
    void writePoints();
    void writeChunk(std::size_t series, std::size_t from);
    void writeTail(std::size_t series, std::size_t from);
    void writeEvents();
    void writeMeta(const char* key, const std::string& value);
    void settle();
    void giveUpPoints(const Error& error);
    Result<void> leaveWal();
    void log(const std::string& line);

    std::string m_id;
    std::filesystem::path m_folder;
    std::unique_ptr<SQLite::Database> m_database;
    std::unique_ptr<Statements> m_statements;
    std::vector<Column> m_columns;
    std::vector<RunEvent> m_events;
    std::vector<CheckpointRecord> m_checkpoints;
    std::vector<TensorHistogram> m_histograms;
    std::optional<RunState> m_state;
    std::string m_ended;
    std::int64_t m_lastStep = -1;
    std::size_t m_waiting = 0; ///< Points that no commit has written yet.
    std::uint64_t m_lost = 0;
    std::uint64_t m_strays = 0; ///< Samples of a series that nobody announced.
    ino_t m_inode = 0;
    std::ofstream m_log;
};

} // namespace mantissa
