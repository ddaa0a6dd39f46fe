#include "engine/callbacks/average.h"
#include "engine/model/model.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace mantissa {
namespace {

/// Stochastic weight averaging. As in the ecosystem: the mean is over the weights with which an epoch begins,
/// from the start epoch on; meanwhile the rate goes to its own value; at the end the mean becomes the model,
/// and running statistics are taken anew over an epoch.
class WeightAveraging final : public Callback {
public:
    explicit WeightAveraging(const SwaPlan& plan) : m_plan(plan) {}

    void setup(TrainingView& view) override
    {
        const auto epochs = view.plan().maxEpochs;
        const auto start = m_plan.startEpoch >= 0
            ? m_plan.startEpoch
            : static_cast<std::int64_t>(static_cast<double>(epochs) * m_plan.startShare);
        m_start = std::max<std::int64_t>(start - 1, 0);
    }

    void onTrainEpochStart(TrainingView& view) override
    {
        if (view.epoch() < m_start || view.epoch() <= m_latest)
            return;
        m_latest = view.epoch();
        if (m_averaged == 0)
            m_rateBefore = view.learningRate();
        view.setLearningRate(rateAfter(m_averaged));
        m_average.update(view, 1.0 / static_cast<double>(m_averaged + 1), false);
        ++m_averaged;
    }

    void onTrainEnd(TrainingView& view) override
    {
        if (m_averaged == 0)
            return;
        m_average.moveIn(view);
        if (view.model().buffers().empty())
            return;
        view.forwardOverEpoch(
            [&](std::int64_t batch) { view.model().setNormMomentum(1.0 / static_cast<double>(batch + 1)); });
    }

    CallbackState stateDict() const override
    {
        return m_average.stateWith(nlohmann::json{
            {"n_averaged", m_averaged}, {"latest_update_epoch", m_latest}, {"rate_before", m_rateBefore}}
                                       .dump());
    }
    void loadStateDict(const CallbackState& state) override
    {
        const auto json = nlohmann::json::parse(state.json);
        m_averaged = json.at("n_averaged").get<std::int64_t>();
        m_latest = json.at("latest_update_epoch").get<std::int64_t>();
        m_rateBefore = json.at("rate_before").get<double>();
        m_average.load(state);
        m_resumed = m_averaged > 0;
    }
    void onTrainBatchStart(TrainingView& view) override
    {
        if (!m_resumed) // The schedule of a resumed run does not know of this rate.
            return;
        m_resumed = false;
        view.setLearningRate(rateAfter(m_averaged - 1));
    }

private:
    double rateAfter(std::int64_t epochs) const
    {
        const double part = m_plan.annealingEpochs > 0
            ? std::min(1.0, static_cast<double>(epochs) / static_cast<double>(m_plan.annealingEpochs))
            : 1.0;
        const double way = m_plan.linear ? part : (1.0 - std::cos(std::numbers::pi * part)) / 2.0;
        return m_plan.rate * way + m_rateBefore * (1.0 - way);
    }

    SwaPlan m_plan;
    WeightAverage m_average;
    std::int64_t m_start = 0;
    std::int64_t m_latest = -1;
    std::int64_t m_averaged = 0;
    double m_rateBefore = 0.0;
    bool m_resumed = false;
};

} // namespace

std::unique_ptr<Callback> makeWeightAveraging(const SwaPlan& plan)
{
    return std::make_unique<WeightAveraging>(plan);
}

} // namespace mantissa
