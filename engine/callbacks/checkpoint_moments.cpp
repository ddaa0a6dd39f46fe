#include "engine/callbacks/callback.h"

namespace mantissa {
namespace {

/// When ModelCheckpoint saves, as far as that goes by epochs. What stays is the run's own matter.
class CheckpointMoments final : public Callback {
public:
    explicit CheckpointMoments(const CheckpointPlan& plan) : m_plan(plan) {}

    void setup(TrainingView& view) override
    {
        const auto& validation = view.plan().validation;
        const bool onceAnEpoch = validation.everyBatches == 0 && validation.intervalShare == 1.0;
        m_onTrainEpochEnd = m_plan.onTrainEpochEnd.value_or(!validation.wanted()
                                                            || (validation.everyEpochs == 1 && onceAnEpoch));
    }
    void onSanityCheckStart(TrainingView&) override { m_sanity = true; }
    void onSanityCheckEnd(TrainingView&) override { m_sanity = false; }
    void onTrainEpochEnd(TrainingView& view) override
    {
        if (m_onTrainEpochEnd)
            save(view);
    }
    void onValidationEnd(TrainingView& view) override
    {
        if (!m_onTrainEpochEnd && !m_sanity)
            save(view);
    }

private:
    void save(TrainingView& view) const
    {
        if ((view.epoch() + 1) % m_plan.everyEpochs == 0)
            view.requestCheckpoint();
    }

    CheckpointPlan m_plan;
    bool m_onTrainEpochEnd = true;
    bool m_sanity = false;
};

} // namespace

std::unique_ptr<Callback> makeCheckpointMoments(const CheckpointPlan& plan)
{
    return std::make_unique<CheckpointMoments>(plan);
}

} // namespace mantissa
