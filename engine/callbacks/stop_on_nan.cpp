#include "engine/callbacks/callback.h"

#include <nlohmann/json.hpp>

#include <cmath>

namespace mantissa {
namespace {

class StopOnNan final : public Callback {
public:
    explicit StopOnNan(const StopOnNanPlan& plan) : m_plan(plan) {}

    void onTrainBatchEnd(TrainingView& view) override
    {
        const auto loss = view.metric("loss");
        if (!view.endsWindow() || !loss)
            return;
        m_row = std::isfinite(*loss) ? 0 : m_row + 1;
        if (m_row >= m_plan.patience && !view.plan().trial)
            view.requestStop("StopOnNaN: the loss is " + std::string(std::isnan(*loss) ? "NaN" : "infinite")
                             + (m_row > 1 ? " for " + std::to_string(m_row) + " steps in a row." : "."));
    }

    CallbackState stateDict() const override { return {nlohmann::json{{"row", m_row}}.dump(), {}, {}}; }
    void loadStateDict(const CallbackState& state) override
    {
        m_row = nlohmann::json::parse(state.json).at("row").get<std::int64_t>();
    }

private:
    StopOnNanPlan m_plan;
    std::int64_t m_row = 0;
};

} // namespace

std::unique_ptr<Callback> makeStopOnNan(const StopOnNanPlan& plan)
{
    return std::make_unique<StopOnNan>(plan);
}

} // namespace mantissa
