#include "engine/recipe/run_plan.h"

#include "engine/recipe/asked.h"
#include "engine/recipe/class_object.h"
#include "engine/recipe/fields.h"
#include "engine/recipe/plan_choice.h"
#include "engine/recipe/plan_parts.h"

#include <algorithm>
#include <array>

namespace mantissa {

namespace {

constexpr std::array kModes = {
    PlanChoice{"default", RunMode::Default},
    PlanChoice{"faithful", RunMode::Faithful},
    PlanChoice{"extended", RunMode::Extended},
};

/// Callbacks that change nothing in training, or whose work the engine does anyway.
constexpr std::array<std::string_view, 6> kHarmlessCallbacks = {"GradientAccumulationScheduler",
                                                                "ModelSummary",
                                                                "RichModelSummary",
                                                                "TQDMProgressBar",
                                                                "RichProgressBar",
                                                                "ModelCheckpoint"};

void checkCallbacks(PlanReader& reader)
{
    const auto& callbacks = reader.setup()[field::callbacks];
    for (const auto& callback : callbacks.asEntries()) {
        const auto name = classOf(callback);
        if (name.empty())
            continue;
        const bool known = hasCallback(name)
            || std::find(kHarmlessCallbacks.begin(), kHarmlessCallbacks.end(), name)
                != kHarmlessCallbacks.end();
        if (!known)
            reader.fail(
                "The callback " + name + " is one that this engine does not have.",
                "Remove it to train here. It has ModelCheckpoint, EarlyStopping, LearningRateMonitor, "
                "GradientAccumulationScheduler, StochasticWeightAveraging, EMAWeightAveraging, "
                "DeviceStatsMonitor, SpikeDetection, StopOnNaN, Timer and HistogramCapture.");
    }
}

std::string shownModel(const Setup& setup)
{
    const auto name = setup[field::modelClass].asString();
    return name.empty() ? "the model" : name;
}

/// Facts about a module that this engine's own training step contradicts.
void checkFacts(PlanReader& reader)
{
    const auto& setup = reader.setup();
    if (bringsOptimizers(setup))
        return;
    if (!setup.effective(field::automaticOptimization).asBool(true))
        reader.fail("The module optimizes manually, and " + shownModel(setup)
                        + " has no step of that kind here.",
                    "Set mantissa.facts.automatic_optimization to true, or use mantissa.GAN, to train here.");
    if (setup.effective(field::numOptimizers).asInteger(1) != 1)
        reader.cannot(field::numOptimizers.path, setup[field::numOptimizers],
                      "It trains with one optimizer.");
}

void planRest(PlanReader& reader, RunPlan& plan)
{
    const auto& setup = reader.setup();
    plan.mode = choose(reader, field::mode, kModes);
    plan.framework = frameworkOf(setup);
    const auto& seed = setup[field::seed]; // `true` lets Lightning draw one; 0 can be repeated.
    plan.seed = seed.isBool() ? 0 : static_cast<std::uint64_t>(reader.integer(field::seed));
    plan.explicitUnscale = reader.flag(field::explicitUnscale);
    plan.noSync = reader.flag(field::noSync);
    plan.threadsPerRank = static_cast<int>(reader.integer(field::threads, 1));
}

} // namespace

std::vector<std::string> ownSeries(const RunPlan& plan)
{
    std::vector<std::string> series;
    for (const auto& own : plan.ownOptimizers)
        for (const std::string name : {"loss_", "grad_norm_"})
            series.push_back(name + own.series);
    return series;
}

Result<RunPlan> planRun(const Setup& setup)
{
    PlanReader reader(setup);
    RunPlan plan;
    planModel(reader, plan);
    planData(reader, plan);
    planPrecision(reader, plan);
    planStrategy(reader, plan);
    planOptimizer(reader, plan);
    planLoops(reader, plan);
    planValidation(reader, plan);
    planSchedule(reader, plan);
    planCallbacks(reader, plan);
    planFaults(reader, plan);
    planCheckpoints(reader, plan);
    checkCallbacks(reader);
    checkFacts(reader);
    planRest(reader, plan);
    checkManual(reader, plan);
    if (reader.error())
        return *reader.error();
    return plan;
}

} // namespace mantissa
