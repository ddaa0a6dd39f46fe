#include "engine/callbacks/callback.h"
#include "engine/callbacks/logged_names.h"
#include "engine/optim/optimizer.h"

namespace mantissa {
namespace {

double momentumOf(const OptimizerPlan& plan)
{
    return plan.kind == OptimizerKind::Sgd ? plan.momentum : plan.beta1;
}

/// Like the ecosystem's: before a batch, or once when an epoch begins.
class LearningRateMonitor final : public Callback {
public:
    explicit LearningRateMonitor(const LearningRateMonitorPlan& plan) : m_plan(plan) {}

    void setup(TrainingView& view) override
    {
        const auto byItself = view.plan().schedule.interval == ScheduleInterval::Epoch
            ? CallbackInterval::Epoch
            : CallbackInterval::Step;
        m_interval = m_plan.interval.value_or(byItself);
    }
    void onTrainEpochStart(TrainingView& view) override
    {
        if (m_interval == CallbackInterval::Epoch)
            log(view);
    }
    void onTrainBatchStart(TrainingView& view) override
    {
        if (m_interval != CallbackInterval::Step || m_last == view.step())
            return;
        m_last = view.step();
        log(view);
    }

private:
    void log(TrainingView& view) const
    {
        const auto& optimizer = view.optimizer().plan();
        view.log(kMonitoredRate, view.learningRate());
        if (m_plan.momentum)
            view.log(kMonitoredMomentum, momentumOf(optimizer));
        if (m_plan.weightDecay)
            view.log(kMonitoredWeightDecay, optimizer.weightDecay);
    }

    LearningRateMonitorPlan m_plan;
    CallbackInterval m_interval = CallbackInterval::Step;
    std::int64_t m_last = -1;
};

} // namespace

std::unique_ptr<Callback> makeLearningRateMonitor(const LearningRateMonitorPlan& plan)
{
    return std::make_unique<LearningRateMonitor>(plan);
}

} // namespace mantissa
