#include "engine/callbacks/callback.h"
#include "engine/comm/communicator.h"

#include <nlohmann/json.hpp>

#include <chrono>

namespace mantissa {
namespace {

using Clock = std::chrono::steady_clock;

class Timer final : public Callback {
public:
    explicit Timer(const TimerPlan& plan) : m_plan(plan) {}

    void onTrainStart(TrainingView&) override { m_begin = Clock::now(); }
    void onTrainBatchEnd(TrainingView& view) override
    {
        if (m_plan.interval == CallbackInterval::Step && view.endsWindow())
            check(view);
    }
    void onTrainEpochEnd(TrainingView& view) override
    {
        if (m_plan.interval == CallbackInterval::Epoch)
            check(view);
    }

    CallbackState stateDict() const override
    {
        return {nlohmann::json{{"time_elapsed", elapsed()}}.dump(), {}, {}};
    }
    void loadStateDict(const CallbackState& state) override
    {
        m_before = nlohmann::json::parse(state.json).at("time_elapsed").get<double>();
    }

private:
    double elapsed() const
    {
        const double here = m_begin == Clock::time_point{}
            ? 0.0
            : std::chrono::duration<double>(Clock::now() - m_begin).count();
        return m_before + here;
    }

    void check(TrainingView& view) const
    {
        if (m_plan.seconds <= 0.0)
            return;
        double seconds = elapsed(); // Rank 0's clock counts for all.
        if (view.communicator().size() > 1)
            view.communicator().broadcast(&seconds, sizeof seconds, 0);
        if (seconds >= m_plan.seconds)
            view.requestStop("Timer: the time is over.");
    }

    TimerPlan m_plan;
    double m_before = 0.0; ///< In runs that this one goes on from.
    Clock::time_point m_begin;
};

} // namespace

std::unique_ptr<Callback> makeTimer(const TimerPlan& plan)
{
    return std::make_unique<Timer>(plan);
}

} // namespace mantissa
