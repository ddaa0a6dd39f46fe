#pragma once

#include "engine/core/publisher.h"
#include "engine/core/result.h"
#include "engine/core/run_state.h"
#include "engine/core/shadow_report.h"
#include "engine/metrics/metric_feed.h"
#include "engine/metrics/sample.h"
#include "engine/recipe/run_plan.h"
#include "engine/recipe/setup.h"

#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace mantissa {

/// A stored checkpoint that a new run goes on from.
struct ResumePoint {
    std::filesystem::path checkpoint; ///< Its folder.
    std::string parentRun; ///< Id of the run that wrote it.
    std::int64_t parentStep = -1; ///< The last step it holds, 0-based.
    bool operator==(const ResumePoint&) const = default;
};

/// What is asked for when a run starts. Values only, so that the call could cross a process border.
struct RunRequest {
    RunPlan plan;
    std::string setupText; ///< The file as the user wrote it: stored with the run.
    std::string findingsJson; ///< What the check said: stored with the run.
    std::string assumedJson;
    std::string name;
    std::string kind = "run"; ///< run | rehearsal
    std::filesystem::path history;
    std::optional<ResumePoint> resume; ///< None: from the set-up's own beginning.
};

struct RunStateEvent {
    RunState state = RunState::Queued;
    std::string message; ///< For Failed: rank, stage and step, and the cause. Else may be empty.
    std::string hint;
};

struct RunProgress {
    std::int64_t step = 0; ///< Optimizer steps done, skipped ones included.
    std::int64_t total = 0; ///< 0 where unknown.
    std::int64_t skipped = 0;
    double secondsLeft = -1.0; ///< Negative where unknown.
    std::uint64_t unshownPoints = 0; ///< Dropped by the feed since nobody took them; the history has them.
    std::uint64_t lostPoints = 0; ///< Never to be in the history: the disk took none for too long.
    std::string historyTrouble; ///< Why the history cannot be written right now, or was not for a while.
};

struct RunSummary {
    std::string id;
    std::filesystem::path folder;
    RunState state = RunState::Queued;
    std::int64_t steps = 0;
    std::int64_t skipped = 0;
    std::map<std::string, double> final; ///< Last value of every series of the whole run.
    std::string message; ///< Why it failed, or what of it could not be kept.
    std::string hint; ///< What can be done about that.
    std::uint64_t lostPoints = 0; ///< Recorded, and not in the history.
};

/// A run in progress. Commands return at once; the answer is a state. Thread-safe.
class TrainingRun {
public:
    virtual ~TrainingRun() = default; ///< Stops the run and waits for its ranks.

    virtual std::string id() const = 0;
    virtual std::filesystem::path folder() const = 0;
    virtual std::vector<SeriesSpec> series() const = 0; ///< Fixed once the run is running.
    virtual MetricFeed& feed() = 0; ///< Samples, thinned when nobody drains it.
    virtual std::vector<RunEvent> takeEvents() = 0; ///< Events since the last call; none is lost.
    virtual RunState state() const = 0;
    virtual RunProgress progress() const = 0;
    virtual Subscription onStateChanged(Publisher<RunStateEvent>::Callback callback) = 0;

    virtual void pause() = 0;
    virtual void resume() = 0;
    virtual void stop() = 0; ///< Ends after the current step with a checkpoint.

    /// Waits until the run has ended and its history is committed. False when the time is over before.
    virtual bool wait(std::chrono::milliseconds atMost) = 0;
    virtual RunSummary summary() const = 0;

    /// Some rank never came back: its thread still runs, so the program can only be left by _exit.
    virtual bool leftRanksBehind() const { return false; }
};

struct EngineReport {
    std::string name; ///< "LibTorch 2.11.0"
    std::string device; ///< "CPU, AVX-512, 2 cores"
    std::vector<std::string> notes; ///< "CUDA not found: no driver"
};

struct VerifyRequest {
    std::filesystem::path caseFolder;
    bool exact = false;
};

struct VerifyQuantity {
    std::string name; ///< "loss", "grad_norm64", "params"
    double worst = 0.0; ///< Largest deviation, in units of the tolerance's own measure.
    std::string measure; ///< "relative", "absolute", "relative L2", "mismatches"
    double tolerance = 0.0;
    std::int64_t step = -1; ///< Where the worst is.
    bool inside = true;
};

struct VerifyReport {
    std::string caseName;
    bool inside = true;
    bool exact = false;
    std::vector<VerifyQuantity> quantities;
};

/// The engine as the window and the command line know it: values in, values and callbacks out.
class TrainingService {
public:
    virtual ~TrainingService() = default;

    virtual EngineReport describe() const = 0;
    virtual Result<std::unique_ptr<TrainingRun>> start(const RunRequest& request) = 0;
    /// ErrorCode::NotHere where the case needs what this engine does not have.
    virtual Result<VerifyReport> verify(const VerifyRequest& request) = 0;
    /// One step in fp32 and in the set-up's precision, compared by layer.
    virtual Result<ShadowReport> shadow(const ShadowRequest& request) = 0;
};

/// Loads the plug-in (MANTISSA_ENGINE where that is set, else the one beside the program) and makes its
/// service; it is never unloaded. NotHere, with what is missing, where the plug-in or a library of its is not
/// there.
Result<std::unique_ptr<TrainingService>> loadTrainingService(const std::filesystem::path& plugin = {});

} // namespace mantissa

/// What the plug-in exports.
extern "C" mantissa::TrainingService* mantissaMakeTrainingService();
