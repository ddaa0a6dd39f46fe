#include "engine/train/rank_training.h"

#include <utility>

namespace mantissa {
namespace {

class TrainerRank final : public RankTraining {
public:
    TrainerRank(std::shared_ptr<PreparedRun> prepared, Communicator& communicator)
        : m_trainer(std::move(prepared), communicator)
    {
    }

    bool finished() const override { return m_trainer.finished(); }
    StepReport step(std::stop_token stop) override { return m_trainer.step(std::move(stop)); }
    TrainerState state() override { return m_trainer.state(); }
    TrainerPlace place() const override { return m_trainer.place(); }

private:
    Trainer m_trainer;
};

class TrainerSource final : public RankSource {
public:
    explicit TrainerSource(const RunRequest& request) : m_plan(request.plan) {}

    Result<void> prepare() override
    {
        auto prepared = prepareRun(m_plan);
        if (!prepared)
            return prepared.error();
        m_prepared = *std::move(prepared);
        return {};
    }

    std::int64_t totalSteps() const override { return mantissa::totalSteps(*m_prepared); }
    std::unique_ptr<RankTraining> make(Communicator& communicator) override
    {
        return std::make_unique<TrainerRank>(m_prepared, communicator);
    }
    void close() noexcept override { closeData(*m_prepared); }

private:
    RunPlan m_plan;
    std::shared_ptr<PreparedRun> m_prepared;
};

} // namespace

std::unique_ptr<RankSource> makeTrainerSource(const RunRequest& request)
{
    return std::make_unique<TrainerSource>(request);
}

} // namespace mantissa
