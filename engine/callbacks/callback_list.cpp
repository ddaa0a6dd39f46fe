#include "engine/callbacks/callback_list.h"

#include "engine/callbacks/logged_names.h"

#include <algorithm>

namespace mantissa {
namespace {

struct Make {
    std::unique_ptr<Callback> operator()(const EarlyStoppingPlan& plan) const
    {
        return makeEarlyStopping(plan);
    }
    std::unique_ptr<Callback> operator()(const LearningRateMonitorPlan& plan) const
    {
        return makeLearningRateMonitor(plan);
    }
    std::unique_ptr<Callback> operator()(const SwaPlan& plan) const { return makeWeightAveraging(plan); }
    std::unique_ptr<Callback> operator()(const EmaPlan& plan) const { return makeMovingAverage(plan); }
    std::unique_ptr<Callback> operator()(const DeviceStatsPlan& plan) const { return makeDeviceStats(plan); }
    std::unique_ptr<Callback> operator()(const SpikePlan& plan) const { return makeSpikeDetection(plan); }
    std::unique_ptr<Callback> operator()(const StopOnNanPlan& plan) const { return makeStopOnNan(plan); }
    std::unique_ptr<Callback> operator()(const TimerPlan& plan) const { return makeTimer(plan); }
    std::unique_ptr<Callback> operator()(const HistogramPlan& plan) const
    {
        return makeHistogramCapture(plan);
    }
};

} // namespace

CallbackList::CallbackList(const std::vector<CallbackPlan>& plans)
{
    for (const auto& plan : plans)
        add(std::string(callbackName(plan)), std::visit(Make{}, plan));
}

void CallbackList::add(std::string name, std::unique_ptr<Callback> callback)
{
    const auto same = std::count_if(m_entries.begin(), m_entries.end(), [&](const Entry& entry) {
        return entry.name.substr(0, entry.name.find('#')) == name;
    });
    if (same > 0)
        name.append(1, '#').append(std::to_string(same + 1));
    m_entries.push_back({std::move(name), std::move(callback)});
}

bool CallbackList::onBeforeBackward(TrainingView& view, double loss)
{
    bool keeps = true;
    for (auto& entry : m_entries)
        keeps = entry.callback->onBeforeBackward(view, loss) && keeps;
    return keeps;
}

std::vector<std::pair<std::string, CallbackState>> CallbackList::stateDict() const
{
    std::vector<std::pair<std::string, CallbackState>> states;
    for (const auto& entry : m_entries)
        states.emplace_back(entry.name, entry.callback->stateDict());
    return states;
}

void CallbackList::loadStateDict(const std::vector<std::pair<std::string, CallbackState>>& states)
{
    // A callback that the stored run did not have begins anew; one that this run does not have is left out.
    for (auto& entry : m_entries) {
        const auto found = std::find_if(states.begin(), states.end(),
                                        [&](const auto& state) { return state.first == entry.name; });
        if (found != states.end())
            entry.callback->loadStateDict(found->second);
    }
}

std::vector<SeriesSpec> loggedSeries(const RunPlan& plan)
{
    std::vector<SeriesSpec> series;
    if (const auto* monitor = callbackOf<LearningRateMonitorPlan>(plan.callbacks)) {
        series.push_back({kMonitoredRate, "1"});
        if (monitor->momentum)
            series.push_back({kMonitoredMomentum, "1"});
        if (monitor->weightDecay)
            series.push_back({kMonitoredWeightDecay, "1"});
    }
    if (callbackOf<DeviceStatsPlan>(plan.callbacks)) {
        for (const auto* name : {kProcessorShare, kMemoryShare, kSwapShare})
            series.push_back({name, "%", -1, "train", false});
        series.push_back({kProcessMemory, "B", -1, "train", false});
    }
    return series;
}

} // namespace mantissa
