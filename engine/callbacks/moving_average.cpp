#include "engine/callbacks/average.h"

#include <nlohmann/json.hpp>

namespace mantissa {
namespace {

/// An exponential moving average of the weights. Validation sees the average, and at the end it becomes the
/// model. Unlike the ecosystem's it works on shards, and validation before the first update sees the weights
/// that there are.
class MovingAverage final : public Callback {
public:
    explicit MovingAverage(const EmaPlan& plan) : m_plan(plan) {}

    void onTrainBatchEnd(TrainingView& view) override
    {
        const std::int64_t index = view.step() - 1;
        if (!view.endsWindow() || view.step() <= m_latest)
            return;
        if (index >= m_plan.startStep && index % m_plan.everySteps == 0)
            update(view);
    }
    void onTrainEpochEnd(TrainingView& view) override
    {
        if (m_plan.startEpoch >= 0 && view.epoch() >= m_plan.startEpoch)
            update(view);
    }
    void onValidationEpochStart(TrainingView& view) override { m_average.swapIn(view); }
    void onValidationEpochEnd(TrainingView& view) override { m_average.swapOut(view); }
    void onTrainEnd(TrainingView& view) override { m_average.moveIn(view); }

    CallbackState stateDict() const override
    {
        return m_average.stateWith(nlohmann::json{{"latest_update_step", m_latest}}.dump());
    }
    void loadStateDict(const CallbackState& state) override
    {
        m_latest = nlohmann::json::parse(state.json).at("latest_update_step").get<std::int64_t>();
        m_average.load(state);
    }

private:
    void update(TrainingView& view)
    {
        m_average.update(view, 1.0 - m_plan.decay, m_plan.buffers);
        m_latest = view.step();
    }

    EmaPlan m_plan;
    WeightAverage m_average;
    std::int64_t m_latest = 0;
};

} // namespace

std::unique_ptr<Callback> makeMovingAverage(const EmaPlan& plan)
{
    return std::make_unique<MovingAverage>(plan);
}

} // namespace mantissa
