#pragma once

#include "engine/core/result.h"
#include "engine/core/run_state.h"
#include "engine/history/run_writer.h"
#include "engine/metrics/sample.h"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace mantissa {

/// A run as a list shows it.
struct RunSummaryRow {
    std::string id;
    std::string name;
    std::filesystem::path folder;
    std::string kind;
    RunState state = RunState::Interrupted;
    std::string stateText; ///< "running", or "silent 14 min (node17)" for another host's; of a run that
                           ///< cannot be read "damaged", "newer" (than this version reads) or "unreadable".
    double silentSeconds = -1.0; ///< Since the last sign of a run of another host that has not ended; then
                                 ///< `state` is Interrupted.
    std::int64_t steps = 0;
    std::string started; ///< ISO 8601, UTC.
    std::string ended; ///< Empty while it runs, and where it was cut off.
    std::string host;
    std::uint64_t lostPoints = 0; ///< Recorded, and not in the file: the disk took none for too long.
    std::string parentRun; ///< Id of the run that this one goes on from; empty: none.
    std::int64_t parentStep = -1; ///< The last step that both have.
    std::string error; ///< Why the run cannot be read; then only `folder`, `id` and `name` (both from the
                       ///< folder's name), `stateText` and `hint` hold, and `steps` is -1.
    std::string hint; ///< … and what to do about it.
};

/// Every point of one series, in the order of recording.
struct SeriesPoints {
    SeriesSpec spec;
    std::vector<std::int64_t> step;
    std::vector<double> time;
    std::vector<double> value;
};

struct StoredSetup {
    std::string yaml;
    std::string effective;
    std::string findings;
    std::string assumed;
    std::string environment;
};

/// Reads one run's folder; never writes to it. Opens the file anew for each answer, so that an open reader
/// neither keeps the writer from ending the run nor shows old numbers. Thread-safe.
class RunReader {
public:
    static Result<std::unique_ptr<RunReader>> open(const std::filesystem::path& folder);
    virtual ~RunReader() = default;

    virtual Result<RunSummaryRow> summary() const = 0;
    virtual Result<StoredSetup> setup() const = 0;
    virtual Result<std::vector<SeriesSpec>> series() const = 0;
    virtual Result<SeriesPoints> points(const SeriesSpec& spec) const = 0;
    virtual Result<std::vector<RunEvent>> events() const = 0;
    virtual Result<std::vector<CheckpointRecord>> checkpoints() const = 0;
    /// Of the steps in that range, both ends included.
    virtual Result<std::vector<TensorHistogram>> histograms(std::int64_t firstStep,
                                                            std::int64_t lastStep) const = 0;
};

/// One run as a list shows it.
Result<RunSummaryRow> summarizeRun(const std::filesystem::path& folder);

/// The runs of a history folder, newest first; none where there is no such folder yet. Runs that cannot be
/// read are listed with their error. Io where the folder itself cannot be read.
Result<std::vector<RunSummaryRow>> listRuns(const std::filesystem::path& history);

/// RUN of the command line: an id, a unique name, a unique prefix of either, or a folder.
Result<std::filesystem::path> findRun(const std::filesystem::path& history, const std::string& run);

/// `$XDG_DATA_HOME/mantissa/history`.
std::filesystem::path defaultHistory();

} // namespace mantissa
