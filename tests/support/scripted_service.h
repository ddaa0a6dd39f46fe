#pragma once

#include "engine/core/training_service.h"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace mantissa::test {

/// What a scripted run does. The defaults are a 16-mixed run over two ranks with two overflows and one
/// growth.
struct RunScript {
    std::vector<SeriesSpec> series; ///< Empty: the default catalogue.
    std::int64_t steps = 120;
    std::chrono::milliseconds perStep{0};
    /// The samples of a step; empty: made-up curves that go with the default catalogue.
    std::function<std::vector<Sample>(std::int64_t step)> samples;
    std::vector<std::int64_t> skips = {20, 45}; ///< Steps whose gradients overflow, on rank 1.
    std::vector<RunEvent> events; ///< Told when the run reaches their step, besides those of `skips`.
    std::optional<std::int64_t> failAt; ///< The run fails in this step.
    std::string failure = "Rank 1 failed at step 0, at Backward: out of memory";
    std::string failureHint = "Halve the batch.";
    std::optional<Error> refusal; ///< start() answers with it.
    bool throws = false; ///< start() throws.
    bool ignoresStop = false; ///< As a rank that hangs; it ends when the run is destroyed.
    bool leavesRanks = false; ///< Answers that some rank never came back.
    Result<VerifyReport> verdict = VerifyReport{}; ///< What verify() answers.
    Result<ShadowReport> shadow = ShadowReport{}; ///< What shadow() answers.
};

std::vector<SeriesSpec> scriptedSeries();
/// The points of one step of the default catalogue, in its order.
std::vector<Sample> scriptedSamples(const RunScript& script, std::int64_t step);

/// Stands in for the engine: runs follow a script on a thread of their own and are written to the history for
/// real.
class ScriptedService final : public TrainingService {
public:
    explicit ScriptedService(RunScript script = {}) : m_script(std::move(script)) {}

    EngineReport describe() const override
    {
        return {"Scripted engine", "no device", {"It plays a script and computes nothing."}};
    }
    Result<std::unique_ptr<TrainingRun>> start(const RunRequest& request) override;
    Result<VerifyReport> verify(const VerifyRequest& request) override;
    Result<ShadowReport> shadow(const ShadowRequest& request) override;

    /// For the runs that start from now on.
    void setScript(RunScript script);
    /// What was asked for so far.
    std::vector<RunRequest> requests() const;

private:
    mutable std::mutex m_mutex;
    RunScript m_script;
    std::vector<RunRequest> m_requests;
};

} // namespace mantissa::test
