#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace mantissa {

/// Which value of a watched series is the better one.
enum class MonitorMode { Min, Max };
enum class CallbackInterval { Step, Epoch };

struct EarlyStoppingPlan {
    std::string monitor = {};
    MonitorMode mode = MonitorMode::Min;
    std::int64_t patience = 3; ///< Checks without getting better.
    double minDelta = 0.0;
    bool checkFinite = true;
    std::optional<double> stoppingThreshold = {}; ///< Good enough.
    std::optional<double> divergenceThreshold = {}; ///< Bad beyond hope.
    std::optional<bool> onTrainEpochEnd = {}; ///< None: where validation runs once an epoch.
};

struct LearningRateMonitorPlan {
    std::optional<CallbackInterval> interval = {}; ///< None: whenever the schedule advances.
    bool momentum = false;
    bool weightDecay = false;
};

struct SwaPlan {
    double rate = 1e-2;
    double startShare = 0.8; ///< Of the epochs; used where startEpoch is below 0.
    std::int64_t startEpoch = -1; ///< 1-based, as the ecosystem counts it here.
    std::int64_t annealingEpochs = 10;
    bool linear = false; ///< Else along a cosine.
};

struct EmaPlan {
    double decay = 0.999;
    std::int64_t everySteps = 1;
    std::int64_t startStep = 0;
    std::int64_t startEpoch = -1; ///< ≥ 0: an update after each epoch from this one on as well.
    bool buffers = true;
};

struct DeviceStatsPlan {
    std::int64_t everySteps = 10;
};

struct SpikePlan {
    MonitorMode mode = MonitorMode::Min;
    std::int64_t window = 10; ///< Losses in the running mean.
    std::int64_t warmup = 1; ///< Batches that are never one.
    std::optional<double> atol = {};
    std::optional<double> rtol = 2.0;
    bool finiteOnly = true; ///< A loss that is not finite is one.
    bool skips = false; ///< The batch is left out and training goes on; else training stops.
};

struct StopOnNanPlan {
    std::int64_t patience = 1; ///< Steps in a row.
};

struct TimerPlan {
    double seconds = 0.0; ///< 0: only measures.
    CallbackInterval interval = CallbackInterval::Step;
};

struct HistogramPlan {
    std::int64_t everySteps = 10;
    bool weights = true;
    bool gradients = true;
    bool updates = true;
};

using CallbackPlan = std::variant<EarlyStoppingPlan, LearningRateMonitorPlan, SwaPlan, EmaPlan,
                                  DeviceStatsPlan, SpikePlan, StopOnNanPlan, TimerPlan, HistogramPlan>;

/// "EarlyStopping": the class that the plan came from.
std::string_view callbackName(const CallbackPlan& plan);

/// The plan of that kind, or null.
template <typename Plan, typename Plans>
const Plan* callbackOf(const Plans& plans)
{
    for (const auto& plan : plans) {
        if (const auto* found = std::get_if<Plan>(&plan))
            return found;
    }
    return nullptr;
}

} // namespace mantissa
