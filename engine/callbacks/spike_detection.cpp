#include "engine/callbacks/callback.h"
#include "engine/callbacks/exact_number.h"
#include "engine/comm/communicator.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <deque>
#include <numeric>

namespace mantissa {
namespace {

/// A loss that leaps away from the mean of the last ones, on any rank: rules and defaults of the ecosystem's
/// class. There it ends the training after the step; here it is seen before the backward pass, so that the
/// batch can be left out instead.
class SpikeDetection final : public Callback {
public:
    explicit SpikeDetection(const SpikePlan& plan) : m_plan(plan) {}

    bool onBeforeBackward(TrainingView& view, double loss) override
    {
        const bool here = view.batch() >= m_plan.warmup && isSpike(loss);
        if (!onAnyRank(view.communicator(), here)) {
            if (std::isfinite(loss) || m_plan.finiteOnly)
                remember(loss);
            return true;
        }
        const std::string words = "SpikeDetection: batch " + std::to_string(view.batch()) + " of epoch "
            + std::to_string(view.epoch()) + " is a spike"
            + (here ? ": the loss of rank " + std::to_string(view.communicator().rank()) + " is "
                       + exactText(loss) + ", and the running mean " + exactText(mean()) + "."
                    : " on another rank.");
        if (here)
            view.note("spike", Stage::Loss, words);
        if (!m_plan.skips && !view.plan().trial)
            view.requestStop("SpikeDetection: batch " + std::to_string(view.batch()) + " of epoch "
                             + std::to_string(view.epoch()) + " is a spike.");
        return !m_plan.skips;
    }

    CallbackState stateDict() const override
    {
        std::vector<std::string> window;
        for (const double loss : m_window)
            window.push_back(exactText(loss));
        return {nlohmann::json{{"window", window}, {"last", exactText(m_last)}}.dump(), {}, {}};
    }
    void loadStateDict(const CallbackState& state) override
    {
        const auto json = nlohmann::json::parse(state.json);
        m_window.clear();
        for (const auto& loss : json.at("window"))
            m_window.push_back(exactNumber(loss.get<std::string>()));
        m_last = exactNumber(json.at("last").get<std::string>());
    }

private:
    static bool onAnyRank(Communicator& communicator, bool here)
    {
        double found = here ? 1.0 : 0.0;
        if (communicator.size() > 1)
            communicator.allReduce(&found, 1, WireType::F64, ReduceOp::Max);
        return found > 0.0;
    }

    bool isSpike(double loss) const
    {
        if (m_plan.finiteOnly && !std::isfinite(loss))
            return true;
        if (m_window.empty())
            return false;
        const double change = loss - m_last;
        if (m_plan.mode == MonitorMode::Min ? change <= 0.0 : change >= 0.0)
            return false;
        const double distance = std::abs(loss - mean());
        return (!m_plan.atol || distance >= std::abs(*m_plan.atol))
            && (!m_plan.rtol || distance >= std::abs(*m_plan.rtol * mean()));
    }

    double mean() const
    {
        return std::accumulate(m_window.begin(), m_window.end(), 0.0)
            / static_cast<double>(std::max<std::size_t>(m_window.size(), 1));
    }

    void remember(double loss)
    {
        m_window.push_back(loss);
        if (static_cast<std::int64_t>(m_window.size()) > m_plan.window)
            m_window.pop_front();
        m_last = loss;
    }

    SpikePlan m_plan;
    std::deque<double> m_window;
    double m_last = 0.0;
};

} // namespace

std::unique_ptr<Callback> makeSpikeDetection(const SpikePlan& plan)
{
    return std::make_unique<SpikeDetection>(plan);
}

} // namespace mantissa
