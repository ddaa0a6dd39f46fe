#include "engine/history/run_writer.h"
#include "engine/strategy/strategy.h"
#include "engine/train/session_recorder.h"
#include "engine/train/trainer.h"
#include "tests/bench/machine_load.h"
#include "tests/bench/measurements.h"
#include "tests/support/rank_threads.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <filesystem>
#include <unistd.h>

namespace mantissa::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kWarmUp = 3;

/// A folder for a recorded run, gone with the object.
class ScratchFolder {
public:
    explicit ScratchFolder(const std::string& wanted)
        : m_path(wanted.empty()
                     ? std::filesystem::temp_directory_path() / ("mantissa-bench-" + std::to_string(getpid()))
                     : std::filesystem::path(wanted)),
          m_mine(wanted.empty())
    {
    }
    ~ScratchFolder()
    {
        std::error_code ignored;
        if (m_mine)
            std::filesystem::remove_all(m_path, ignored);
    }
    ScratchFolder(const ScratchFolder&) = delete;
    ScratchFolder& operator=(const ScratchFolder&) = delete;

    const std::filesystem::path& path() const { return m_path; }

private:
    const std::filesystem::path m_path;
    const bool m_mine;
};

/// The same recorder and file that a run of the window has; none where nothing is recorded.
class Recording {
public:
    Recording(const BenchCase& bench, const RunPlan& plan) : m_folder(bench.history)
    {
        if (bench.recording != "on")
            return;
        RunStart start;
        start.history = m_folder.path();
        start.name = "bench";
        start.series = StepSeries(plan).catalogue();
        auto writer = RunWriter::create(start);
        if (!writer)
            throw std::runtime_error(writer.error().message);
        m_writer = *std::move(writer);
        m_recorder = std::make_shared<SessionRecorder>(plan, m_writer);
    }
    ~Recording()
    {
        if (m_writer)
            static_cast<void>(m_writer->finish(RunState::Finished, 0)); // Thrown away with its folder.
    }
    Recording(const Recording&) = delete;
    Recording& operator=(const Recording&) = delete;

    void post(int rank, const StepReport& report)
    {
        if (m_recorder)
            m_recorder->post(rank, report);
    }

private:
    ScratchFolder m_folder;
    std::shared_ptr<RunWriter> m_writer;
    std::shared_ptr<SessionRecorder> m_recorder;
};

/// What rank 0 measures, and what all ranks agree on.
struct Measured {
    std::atomic<std::int64_t> steps{0}; ///< Of a window.
    std::vector<double> rates;
    std::array<double, kStages.size()> stages{}; ///< Seconds, over all windows.
    std::int64_t counted = 0;
    double ownSeconds = 0.0; ///< CPU time of all ranks and the loader in the windows.
    std::atomic<std::uint64_t> parameterBytes{0}; ///< The largest of the ranks.

    void add(const StepReport& report)
    {
        for (std::size_t i = 0; i < report.stages.size(); ++i) {
            const double end =
                i + 1 < report.stageTimes.size() ? report.stageTimes[i + 1] : report.stepSeconds;
            stages[static_cast<std::size_t>(report.stages[i])] += end - report.stageTimes[i];
        }
        ++counted;
    }
};

double timeSteps(Trainer& trainer, Recording& recording, int rank, std::int64_t count, Measured* into)
{
    const auto began = Clock::now();
    for (std::int64_t i = 0; i < count; ++i) {
        const StepReport report = trainer.step();
        recording.post(rank, report);
        if (into)
            into->add(report);
    }
    return std::chrono::duration<double>(Clock::now() - began).count();
}

void trainRank(const BenchCase& bench, const std::shared_ptr<PreparedRun>& prepared, Recording& recording,
               Communicator& comm, Measured& measured)
{
    const bool first = comm.rank() == 0;
    TrainerSeams seams;
    seams.measures = bench.recording == "on";
    Trainer trainer(prepared, comm, seams);
    timeSteps(trainer, recording, comm.rank(), kWarmUp, nullptr);
    const double one = timeSteps(trainer, recording, comm.rank(), kWarmUp, nullptr) / kWarmUp;
    if (first)
        measured.steps = std::max<std::int64_t>(3, std::llround(bench.seconds / bench.repeats / one));
    const MachineLoad windows;
    for (int window = 0; window < bench.repeats; ++window) {
        comm.barrier();
        const double seconds =
            timeSteps(trainer, recording, comm.rank(), measured.steps, first ? &measured : nullptr);
        if (first)
            measured.rates.push_back(static_cast<double>(measured.steps) / seconds);
    }
    if (first)
        measured.ownSeconds = windows.ownSeconds();
    const std::uint64_t bytes = trainer.strategy().peakParameterBytes();
    for (auto most = measured.parameterBytes.load(); most < bytes;)
        measured.parameterBytes.compare_exchange_weak(most, bytes);
    comm.barrier();
}

Json stagesJson(const Measured& measured)
{
    Json stages;
    for (const auto& [stage, id, title] : kStages) {
        const double seconds = measured.stages[static_cast<std::size_t>(stage)];
        if (seconds > 0.0)
            stages[std::string(id)] = seconds / static_cast<double>(measured.counted) * 1e3;
    }
    return stages;
}

} // namespace

Json measureTraining(const BenchCase& bench)
{
    const RunPlan plan = planOf(bench);
    auto prepared = prepareRun(plan);
    if (!prepared)
        throw std::runtime_error(prepared.error().message);
    Recording recording(bench, plan);
    Measured measured;
    const MachineLoad load;
    runRanks(plan.ranks, [&](Communicator& comm) { trainRank(bench, *prepared, recording, comm, measured); });
    closeData(**prepared);
    auto& rates = measured.rates;
    std::sort(rates.begin(), rates.end());
    return {{"what", bench.what},
            {"model", bench.model},
            {"precision", bench.precision},
            {"threads", bench.threads},
            {"ranks", plan.ranks},
            {"impl", bench.impl},
            {"recording", bench.recording},
            {"steps_per_s", rates[rates.size() / 2]},
            {"min", rates.front()},
            {"max", rates.back()},
            {"steps_per_window", measured.steps.load()},
            // Hardly touched by what else runs on the machine, with one thread at least.
            {"steps_per_own_cpu_s", static_cast<double>(measured.counted) / measured.ownSeconds},
            {"stages", stagesJson(measured)}, // milliseconds
            {"parameter_bytes", measured.parameterBytes.load()},
            {"peak_rss_mb", std::llround(peakResidentMegabytes())},
            {"other_busy_cores", std::round(load.otherCores() * 100.0) / 100.0}};
}

} // namespace mantissa::bench
