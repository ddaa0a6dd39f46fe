#include "engine/recipe/class_object.h"
#include "engine/recipe/fields.h"
#include "engine/recipe/plan_choice.h"
#include "engine/recipe/plan_parts.h"

#include <charconv>
#include <cmath>
#include <span>

namespace mantissa {

namespace {

constexpr std::array kModes = {
    PlanChoice{"min", MonitorMode::Min},
    PlanChoice{"max", MonitorMode::Max},
};
constexpr std::array kIntervals = {
    PlanChoice{"step", CallbackInterval::Step},
    PlanChoice{"epoch", CallbackInterval::Epoch},
};

std::optional<double> maybeNumber(PlanReader& reader, const Field& field)
{
    if (!reader.setup().effective(field).isSet())
        return std::nullopt;
    return reader.number(field);
}

std::optional<bool> maybeFlag(PlanReader& reader, const Field& field)
{
    if (!reader.setup().effective(field).isSet())
        return std::nullopt;
    return reader.flag(field);
}

CallbackPlan earlyStopping(PlanReader& reader, const RunPlan& run)
{
    EarlyStoppingPlan plan;
    plan.monitor = monitoredSeries(reader, run, field::earlyStoppingMonitor);
    plan.mode = choose(reader, field::earlyStoppingMode, kModes);
    plan.patience = reader.integer(field::earlyStoppingPatience);
    plan.minDelta = reader.number(field::earlyStoppingMinDelta);
    plan.checkFinite = reader.flag(field::earlyStoppingCheckFinite);
    plan.stoppingThreshold = maybeNumber(reader, field::earlyStoppingThreshold);
    plan.divergenceThreshold = maybeNumber(reader, field::earlyStoppingDivergence);
    plan.onTrainEpochEnd = maybeFlag(reader, field::earlyStoppingOnEpochEnd);
    if (plan.monitor.empty())
        reader.fail("EarlyStopping does not know what has to get better.",
                    "Set trainer.callbacks[EarlyStopping].monitor, for instance to val_loss.");
    return plan;
}

CallbackPlan learningRateMonitor(PlanReader& reader, const RunPlan&)
{
    LearningRateMonitorPlan plan;
    if (reader.setup().effective(field::lrMonitorInterval).isSet())
        plan.interval = choose(reader, field::lrMonitorInterval, kIntervals);
    plan.momentum = reader.flag(field::lrMonitorMomentum);
    plan.weightDecay = reader.flag(field::lrMonitorWeightDecay);
    return plan;
}

CallbackPlan weightAveraging(PlanReader& reader, const RunPlan& run)
{
    SwaPlan plan;
    plan.rate = reader.number(field::swaLrs);
    if (!(plan.rate > 0.0))
        reader.cannot(field::swaLrs.path, reader.setup().effective(field::swaLrs),
                      "It takes one rate above 0, such as 0.01.");
    const auto start = reader.setup().effective(field::swaEpochStart);
    if (start.isInteger())
        plan.startEpoch = reader.integer(field::swaEpochStart);
    else
        plan.startShare = reader.number(field::swaEpochStart);
    if ((start.isInteger() && plan.startEpoch < 1) || plan.startShare > 1.0)
        reader.cannot(field::swaEpochStart.path, start,
                      "It takes an epoch counted from 1, or a share from 0.0 to 1.0.");
    if (!start.isInteger() && run.maxEpochs == run.maxSteps)
        reader.fail("Weight averaging starts at a share of all epochs, and their number has no limit.",
                    "Set trainer.max_epochs, or swa_epoch_start to a whole number.");
    plan.annealingEpochs = reader.integer(field::swaAnnealingEpochs);
    plan.linear = choose(reader, field::swaAnnealingStrategy,
                         std::array{PlanChoice{"cos", false}, PlanChoice{"linear", true}});
    return plan;
}

CallbackPlan movingAverage(PlanReader& reader, const RunPlan&)
{
    return EmaPlan{reader.number(field::emaDecay), reader.integer(field::emaEverySteps),
                   reader.integer(field::emaStartStep, EmaPlan{}.startStep),
                   reader.integer(field::emaStartEpoch, EmaPlan{}.startEpoch),
                   reader.flag(field::emaUseBuffers)};
}

CallbackPlan deviceStats(PlanReader& reader, const RunPlan&)
{
    return DeviceStatsPlan{reader.integer(field::deviceStatsEvery)};
}

CallbackPlan spikes(PlanReader& reader, const RunPlan&)
{
    SpikePlan plan;
    plan.mode = choose(reader, field::spikeMode, kModes);
    plan.window = reader.integer(field::spikeWindow);
    plan.warmup = reader.integer(field::spikeWarmup);
    plan.atol = maybeNumber(reader, field::spikeAtol);
    plan.rtol =
        reader.setup()[field::spikeRtol].isNull() ? std::nullopt : maybeNumber(reader, field::spikeRtol);
    plan.finiteOnly = reader.flag(field::spikeFiniteOnly);
    plan.skips =
        choose(reader, field::spikeAction, std::array{PlanChoice{"stop", false}, PlanChoice{"skip", true}});
    return plan;
}

CallbackPlan stopOnNan(PlanReader& reader, const RunPlan&)
{
    return StopOnNanPlan{reader.integer(field::stopOnNanPatience)};
}

CallbackPlan timer(PlanReader& reader, const RunPlan&)
{
    TimerPlan plan;
    plan.seconds = secondsOf(reader, field::timerDuration);
    plan.interval = choose(reader, field::timerInterval, kIntervals);
    return plan;
}

CallbackPlan histograms(PlanReader& reader, const RunPlan&)
{
    return HistogramPlan{reader.integer(field::histogramEvery), reader.flag(field::histogramWeights),
                         reader.flag(field::histogramGradients), reader.flag(field::histogramUpdates)};
}

struct CallbackEntry {
    std::string_view name;
    CallbackPlan (*read)(PlanReader&, const RunPlan&);
    std::span<const std::string_view> idle = {}; ///< Arguments that mean nothing here.
};

constexpr std::array<std::string_view, 3> kIdleOfStopping = {"verbose", "strict", "log_rank_zero_only"};
constexpr std::array<std::string_view, 1> kVerbose = {"verbose"};
constexpr std::array<std::string_view, 1> kDevice = {"device"};
constexpr std::array<std::string_view, 1> kCpuStats = {"cpu_stats"};

/// In the order of CallbackPlan's alternatives.
constexpr std::array kEntries = {
    CallbackEntry{"EarlyStopping", earlyStopping, kIdleOfStopping},
    CallbackEntry{"LearningRateMonitor", learningRateMonitor},
    CallbackEntry{"StochasticWeightAveraging", weightAveraging, kDevice},
    CallbackEntry{"EMAWeightAveraging", movingAverage, kDevice},
    CallbackEntry{"DeviceStatsMonitor", deviceStats, kCpuStats},
    CallbackEntry{"SpikeDetection", spikes},
    CallbackEntry{"StopOnNaN", stopOnNan},
    CallbackEntry{"Timer", timer, kVerbose},
    CallbackEntry{"HistogramCapture", histograms},
};
static_assert(kEntries.size() == std::variant_size_v<CallbackPlan>);

const CallbackEntry* entryOf(std::string_view name)
{
    const auto* found =
        std::find_if(kEntries.begin(), kEntries.end(), [&](const auto& entry) { return entry.name == name; });
    return found == kEntries.end() ? nullptr : found;
}

void checkArguments(PlanReader& reader, const CallbackEntry& entry, const Value& written)
{
    for (const auto& [name, value] : written["init_args"].asMap()) {
        const auto path = "trainer.callbacks[" + std::string(entry.name) + "]." + name;
        const bool idle = std::find(entry.idle.begin(), entry.idle.end(), name) != entry.idle.end();
        if (value.isSet() && !idle && !fieldAt(path))
            reader.cannot(path, value, "Remove it to train here.");
    }
}

/// Several callbacks of one class have one path: each is read from a set-up in which it is alone.
void planOne(PlanReader& reader, RunPlan& plan, const CallbackEntry& entry, const Value& written)
{
    Setup alone;
    (void)alone.set(field::callbacks.path, ValueList{written});
    PlanReader own(alone);
    checkArguments(own, entry, written);
    plan.callbacks.push_back(entry.read(own, plan));
    if (own.error())
        reader.fail(own.error()->message, own.error()->hint);
}

} // namespace

std::string_view callbackName(const CallbackPlan& plan)
{
    return kEntries.at(plan.index()).name;
}

bool hasCallback(std::string_view name)
{
    return entryOf(name) != nullptr;
}

void planCallbacks(PlanReader& reader, RunPlan& plan)
{
    const auto& written = reader.setup()[field::callbacks];
    for (const auto& callback : written.asEntries()) {
        if (const auto* entry = entryOf(classOf(callback)))
            planOne(reader, plan, *entry, callback);
    }
    if (callbackOf<TimerPlan>(plan.callbacks)) // It counts alone then, as in the Trainer.
        return;
    if (const double seconds = secondsOf(reader, field::maxTime); seconds > 0.0)
        plan.callbacks.emplace_back(TimerPlan{seconds, CallbackInterval::Step});
}

} // namespace mantissa
