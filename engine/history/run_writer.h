#pragma once

#include "engine/core/result.h"
#include "engine/core/run_state.h"
#include "engine/metrics/sample.h"
#include "engine/numerics/exponent_histogram.h"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace mantissa {

/// What is known of a run when it starts.
struct RunStart {
    std::filesystem::path history; ///< The folder that holds the runs; made where it is missing.
    std::string name;
    std::string kind = "run"; ///< run | rehearsal | imported
    std::string setupText;
    std::string effective; ///< JSON: requested and effective settings.
    std::string findings; ///< JSON
    std::string assumed; ///< JSON
    std::string environment; ///< JSON: versions, threads, device.
    std::vector<SeriesSpec> series;
    std::string parentRun; ///< The run that this one goes on from; empty: none.
    std::int64_t parentStep = -1; ///< Its last step that this run has too.
};

struct CheckpointRecord {
    std::int64_t step = 0;
    std::string path; ///< Relative to the run's folder.
    std::uint64_t bytes = 0;
    std::string sha256;
    bool kept = true;
};

/// The only writer of a run's `run.sqlite`: its own thread, a commit at least every second, nothing lost but
/// what a kill takes from the last second. Calls from any thread; a full queue makes the caller wait, since
/// history drops nothing.
class RunWriter {
public:
    /// Makes the run's folder with setup.yaml and run.sqlite. Io with the path where it cannot be written.
    static Result<std::unique_ptr<RunWriter>> create(const RunStart& start);

    virtual ~RunWriter() =
        default; ///< Commits what is queued. A run that was not finished is left as it is: interrupted.

    virtual std::string id() const = 0;
    virtual std::filesystem::path folder() const = 0;

    virtual void append(const std::vector<Sample>& samples) = 0;
    virtual void append(const RunEvent& event) = 0;
    virtual void append(const CheckpointRecord& checkpoint) = 0;
    virtual void append(const std::vector<TensorHistogram>& histograms) = 0;
    virtual void setState(RunState state) = 0; ///< running, paused. Never waits.
    /// `lastStep` is 0-based as in samples; -1 where no step was made. Commits everything, switches
    /// to journal_mode=DELETE and closes the file. Reports the first error of the run's writing.
    virtual Result<void> finish(RunState state, std::int64_t lastStep) = 0;
    /// The first error so far (a full disk, say); training goes on, and the run says what was lost.
    virtual Result<void> health() const = 0;
    /// Points and events that will never be in the file. None: whatever health() says has been made good for.
    virtual std::uint64_t lostCount() const = 0;
};

} // namespace mantissa
