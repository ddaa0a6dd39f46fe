#pragma once

#include "engine/metrics/sample.h"
#include "engine/numerics/exponent_histogram.h"
#include "engine/recipe/run_plan.h"
#include "engine/recipe/stage.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mantissa {

/// Something of one step that deserves an event: a fault made on purpose, a scale under its floor.
struct StepNote {
    std::string kind; ///< "injected", "scale_floor"
    Stage stage = Stage::Data;
    std::string message;
    std::string layer = {};
    std::string detail = {}; ///< JSON, or empty.
};

/// A value of the whole run that not every step has: of validation, or of a callback.
struct LoggedValue {
    std::string series;
    double value = 0.0;
};

/// What one of several optimizers did in a step of the run, the same on every rank.
struct TurnReport {
    std::string name; ///< "generator"
    double loss = 0.0; ///< Mean over its passes and the ranks.
    double gradNorm =
        0.0; ///< L2, unscaled, before clipping; root mean square where it stepped several times.
    std::int64_t skipped = 0; ///< Of its steps.
    bool leftOut = false; ///< … since a callback left a batch of its out.
};

/// What one rank knows after one optimizer step. A plain value.
struct StepReport {
    std::int64_t step = 0; ///< 0-based; skipped steps count.
    std::int64_t epoch = 0;
    std::vector<std::int64_t> batches; ///< Index in the epoch of each micro batch of the window.
    bool endsEpoch = false;

    // Of the whole run, the same on every rank.
    double loss = 0.0; ///< Undivided, mean over the window and the ranks; of several optimizers, the sum.
    double accuracy = 0.0; ///< Share of right answers, over the window and the ranks.
    std::optional<double> lossScale; ///< Used by this step; only with a scaler, like the next three.
    std::optional<std::int64_t> growthTracker;
    std::optional<double> lossScaleAfter;
    std::optional<std::int64_t> growthTrackerAfter;
    bool skipped = false; ///< The step; of several optimizers, at least one of theirs.
    std::int64_t skippedSteps = 0; ///< How many optimizer steps.
    std::vector<TurnReport> turns; ///< In the order of RunPlan::ownOptimizers; empty with one optimizer.
    bool leftOut = false; ///< … since a callback left all of its batches out.
    double gradNorm = 0.0; ///< L2, unscaled, before clipping; of all gradients that were stepped with.
    std::optional<double> gradNormClipped; ///< Only with clipping.
    std::optional<double> gradNormScaled; ///< Only with a scaler.
    std::optional<double> totalNorm; ///< As the clipping call returned it, in the gradients' own dtype.
    std::optional<double> paramNorm; ///< After the step; every tenth step.
    double updateRatio = 0.0; ///< ‖change‖ / ‖parameters‖ over the measured elements; 0 on a skipped step.
    std::optional<double> stalledShare; ///< Of the elements with a gradient, those that kept their bits. None
                                        ///< on a skipped step.
    double learningRate = 0.0;
    std::optional<double> momentum; ///< Or the first beta, where the schedule moves it.
    std::int64_t samples = 0; ///< Rows of all ranks in this window.
    bool checkpointDue = false; ///< A callback asks for one after this step.
    std::vector<LoggedValue> logged; ///< In the order of logging.
    std::vector<TensorHistogram> histograms; ///< On rank 0.

    // Of this rank alone.
    std::vector<double> losses; ///< Undivided, one for each micro batch.
    std::int64_t nonfiniteBefore = 0; ///< Gradient elements that were Inf or NaN before any reduction.
    std::string nonfiniteFirst; ///< The parameter in whose gradient backward met the first of them.
    double foundInf = 0.0; ///< As the loss scaler holds it after the ranks agreed.
    bool foundInfHere = false; ///< What this rank found by itself, after the reduction.
    bool parametersChanged = false;
    std::optional<double> parameterHash; ///< Of what this rank holds, after the step.
    double optimizerSteps = 0.0; ///< Steps really taken so far.
    double stepSeconds = 0.0;
    double dataSeconds = 0.0; ///< Waiting for the loader.
    double commSeconds = 0.0; ///< Inside collectives.
    std::uint64_t memoryBytes = 0; ///< Most bytes of parameters alive at once.
    std::vector<Stage> stages; ///< Really gone through, in order; the stages of a micro batch once for each.
    std::vector<double> stageTimes; ///< When each of `stages` was entered, in seconds since the step began.
    std::vector<StepNote> notes;
};

/// Series of the emulated fp8-mixed, in the order of Fp8Role: shares of the elements of linear layers.
inline constexpr std::array kFp8Saturated = {"fp8_saturated_input", "fp8_saturated_weight",
                                             "fp8_saturated_gradient"};
inline constexpr std::array kFp8Flushed = {"fp8_flushed_input", "fp8_flushed_weight", "fp8_flushed_gradient"};

/// The series of a run, and the samples that a step adds to them.
class StepSeries {
public:
    explicit StepSeries(const RunPlan& plan);

    const std::vector<SeriesSpec>& catalogue() const { return m_catalogue; }

    /// Samples of one rank's report: its own series and, from rank 0, those of the whole run. `time` is
    /// seconds since the run began.
    std::vector<Sample> samples(const StepReport& report, int rank, double time) const;

private:
    int indexOf(std::string_view name, int rank) const;

    std::vector<SeriesSpec> m_catalogue;
    std::vector<std::string> m_turns; ///< "d", as in loss_d.
};

} // namespace mantissa
