#pragma once

#include "engine/numerics/exponent_histogram.h"
#include "engine/recipe/run_plan.h"
#include "engine/recipe/stage.h"
#include "engine/tensor/torch.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mantissa {

class Communicator;
class Model;
class Optimizer;
class Strategy;

/// What a callback sees of the training on its rank, and what it may ask of it. All ranks see the same
/// series, steps and epochs.
class TrainingView {
public:
    virtual ~TrainingView() = default;

    virtual const RunPlan& plan() const = 0;
    virtual Communicator& communicator() = 0;
    virtual Strategy& strategy() = 0;
    virtual Model& model() = 0;
    virtual Optimizer& optimizer() = 0;

    virtual std::int64_t step() const = 0; ///< Optimizer steps done, skipped ones included.
    virtual std::int64_t epoch() const = 0; ///< The one that runs, or that has just ended.
    virtual std::int64_t batch() const = 0; ///< Of the epoch: the one that runs, or that has just ended.
    virtual bool endsWindow() const = 0; ///< That batch is followed by an optimizer step.
    virtual bool skipped() const = 0; ///< … which did not happen.
    virtual double
    gradientFactor() const = 0; ///< What gradients are still multiplied by: a loss scale, or 1.

    /// The newest value of a series of the whole run; none where nothing was recorded yet.
    virtual std::optional<double> metric(std::string_view series) const = 0;

    virtual void log(std::string_view series, double value) = 0; ///< One that loggedSeries() announced.
    virtual void note(std::string kind, Stage stage, std::string message) = 0; ///< An event of this step.
    virtual void keep(std::vector<TensorHistogram> histograms) = 0;
    virtual void requestStop(const std::string& why) = 0; ///< All ranks ask alike.
    virtual void requestCheckpoint() = 0; ///< After this step; all ranks ask alike.
    virtual void setLearningRate(double rate) = 0; ///< From now on, whatever the schedule says.
    virtual double learningRate() const = 0; ///< Of this step.
    /// An epoch of training batches, of this rank, without a gradient and in training mode.
    virtual void forwardOverEpoch(const std::function<void(std::int64_t batch)>& before) = 0;
};

/// What a callback needs to go on in a resumed run. `tensors` have the shapes of Strategy::parameters(), so
/// that they are gathered and cut up like an optimizer's state.
struct CallbackState {
    std::string json = "{}";
    std::vector<std::pair<std::string, std::vector<at::Tensor>>> tensors;
    std::vector<std::pair<std::string, at::Tensor>> own; ///< The same on every rank.
};

/// Something that happens at fixed moments of a training: Lightning's hooks, with its names and in its order.
/// One object per rank; ranks make the same calls, so a hook may communicate.
class Callback {
public:
    virtual ~Callback() = default;

    virtual void setup(TrainingView&) {}
    virtual void onFitStart(TrainingView&) {}
    virtual void onSanityCheckStart(TrainingView&) {}
    virtual void onSanityCheckEnd(TrainingView&) {}
    virtual void onTrainStart(TrainingView&) {}
    virtual void onTrainEpochStart(TrainingView&) {}
    virtual void onTrainBatchStart(TrainingView&) {}
    /// `loss` is this rank's. False: the batch is left out, on every rank.
    virtual bool onBeforeBackward(TrainingView&, double /*loss*/) { return true; }
    virtual void onAfterBackward(TrainingView&) {}
    /// Gradients are reduced, and unscaled unless the optimizer does that itself; not clipped.
    virtual void onBeforeOptimizerStep(TrainingView&) {}
    virtual void onTrainBatchEnd(TrainingView&) {}
    virtual void onTrainEpochEnd(TrainingView&) {}
    virtual void onValidationStart(TrainingView&) {}
    virtual void onValidationEpochStart(TrainingView&) {}
    virtual void onValidationEpochEnd(TrainingView&) {}
    virtual void onValidationEnd(TrainingView&) {}
    virtual void onTrainEnd(TrainingView&) {}

    virtual CallbackState stateDict() const { return {}; }
    virtual void loadStateDict(const CallbackState&) {} ///< After setup(). Throws where it is another's.
};

std::unique_ptr<Callback> makeEarlyStopping(const EarlyStoppingPlan& plan);
std::unique_ptr<Callback> makeLearningRateMonitor(const LearningRateMonitorPlan& plan);
std::unique_ptr<Callback> makeWeightAveraging(const SwaPlan& plan);
std::unique_ptr<Callback> makeMovingAverage(const EmaPlan& plan);
std::unique_ptr<Callback> makeCheckpointMoments(const CheckpointPlan& plan); ///< everyEpochs is above 0.
std::unique_ptr<Callback> makeDeviceStats(const DeviceStatsPlan& plan);
std::unique_ptr<Callback> makeSpikeDetection(const SpikePlan& plan);
std::unique_ptr<Callback> makeStopOnNan(const StopOnNanPlan& plan);
std::unique_ptr<Callback> makeTimer(const TimerPlan& plan);
std::unique_ptr<Callback> makeHistogramCapture(const HistogramPlan& plan);

} // namespace mantissa
