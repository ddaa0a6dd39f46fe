#include "engine/callbacks/callback.h"
#include "engine/callbacks/exact_number.h"
#include "engine/callbacks/monitor.h"

#include <nlohmann/json.hpp>

#include <cmath>

namespace mantissa {
namespace {

class EarlyStopping final : public Callback {
public:
    explicit EarlyStopping(const EarlyStoppingPlan& plan) : m_plan(plan), m_best(worstOf(plan.mode)) {}

    void setup(TrainingView& view) override
    {
        const auto& validation = view.plan().validation;
        const bool onceAnEpoch =
            validation.everyBatches == 0 && validation.intervalShare == 1.0 && validation.everyEpochs == 1;
        m_onTrainEpochEnd = m_plan.onTrainEpochEnd.value_or(onceAnEpoch);
    }

    void onSanityCheckStart(TrainingView&) override { m_sanity = true; }
    void onSanityCheckEnd(TrainingView&) override { m_sanity = false; }
    void onTrainEpochEnd(TrainingView& view) override
    {
        if (m_onTrainEpochEnd)
            check(view);
    }
    void onValidationEnd(TrainingView& view) override
    {
        if (!m_onTrainEpochEnd && !m_sanity)
            check(view);
    }

    CallbackState stateDict() const override
    {
        return {nlohmann::json{{"wait_count", m_waited}, {"best_score", exactText(m_best)}}.dump(), {}, {}};
    }
    void loadStateDict(const CallbackState& state) override
    {
        const auto json = nlohmann::json::parse(state.json);
        m_waited = json.at("wait_count").get<std::int64_t>();
        // As text: JSON has no infinity, which is where it begins.
        m_best = exactNumber(json.at("best_score").get<std::string>());
    }

private:
    void check(TrainingView& view)
    {
        const auto value = view.metric(m_plan.monitor);
        if (!value || view.plan().trial)
            return;
        if (const std::string why = verdict(*value); !why.empty())
            view.requestStop("EarlyStopping: " + m_plan.monitor + " is " + exactText(*value) + ", " + why);
    }

    /// Empty: go on. The order of the tests is Lightning's.
    std::string verdict(double value)
    {
        if (m_plan.checkFinite && !std::isfinite(value))
            return "which is not finite; the best was " + exactText(m_best) + ".";
        if (m_plan.stoppingThreshold && isBetter(m_plan.mode, value, *m_plan.stoppingThreshold))
            return "which reaches its threshold " + exactText(*m_plan.stoppingThreshold) + ".";
        if (m_plan.divergenceThreshold && isBetter(m_plan.mode, -value, -*m_plan.divergenceThreshold))
            return "which is beyond " + exactText(*m_plan.divergenceThreshold) + ".";
        const double needed = m_plan.mode == MonitorMode::Min ? m_plan.minDelta : -m_plan.minDelta;
        if (isBetter(m_plan.mode, value + needed, m_best)) {
            m_best = value;
            m_waited = 0;
            return {};
        }
        if (++m_waited < m_plan.patience)
            return {};
        return "and did not get better than " + exactText(m_best) + " in " + std::to_string(m_waited)
            + (m_waited == 1 ? " check." : " checks.");
    }

    EarlyStoppingPlan m_plan;
    double m_best;
    std::int64_t m_waited = 0;
    bool m_onTrainEpochEnd = true;
    bool m_sanity = false;
};

} // namespace

std::unique_ptr<Callback> makeEarlyStopping(const EarlyStoppingPlan& plan)
{
    return std::make_unique<EarlyStopping>(plan);
}

} // namespace mantissa
