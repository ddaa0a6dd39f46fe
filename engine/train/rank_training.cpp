#include "engine/train/rank_training.h"

#include "engine/comm/nccl_group.h"
#include "engine/comm/thread_group.h"
#include "engine/core/counted.h"
#include "engine/train/prepared_run.h"

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
    explicit TrainerSource(const RunRequest& request) : m_plan(request.plan), m_resume(request.resume) {}

    Result<void> prepare() override
    {
        auto prepared = prepareRun(m_plan, m_resume ? m_resume->checkpoint : std::filesystem::path());
        if (!prepared)
            return prepared.error();
        m_prepared = *std::move(prepared);
        return m_resume ? checkPlace() : Result<void>();
    }

    std::int64_t totalSteps() const override { return mantissa::totalSteps(*m_prepared); }
    Result<std::shared_ptr<RankGroup>> meet(int ranks, std::chrono::milliseconds timeout) override
    {
        if (m_plan.comm == CommKind::Threads)
            return RankSource::meet(ranks, timeout);
        auto library = NcclLibrary::open();
        if (!library)
            return library.error();
        auto group = NcclGroup::make(*library, ranks, timeout);
        if (!group)
            return group.error();
        return std::shared_ptr<RankGroup>(*std::move(group));
    }
    std::unique_ptr<RankTraining> make(Communicator& communicator) override
    {
        return std::make_unique<TrainerRank>(m_prepared, communicator);
    }
    void close() noexcept override { closeData(*m_prepared); }

private:
    Result<void> checkPlace() const
    {
        const std::int64_t done = m_prepared->from->position.step;
        if (done != m_resume->parentStep + 1)
            return Error{ErrorCode::Damaged,
                         m_resume->checkpoint.string() + " holds " + counted(done, "step")
                             + ", and the history says " + std::to_string(m_resume->parentStep + 1) + ".",
                         "Go on from another checkpoint."};
        if (done >= totalSteps())
            return Error{ErrorCode::InvalidSetup,
                         "All of the set-up's " + counted(totalSteps(), "step") + " are made already.",
                         "Say how far to go on: --to STEPS, or a higher trainer.max_steps."};
        return {};
    }

    RunPlan m_plan;
    std::optional<ResumePoint> m_resume;
    std::shared_ptr<PreparedRun> m_prepared;
};

} // namespace

Result<std::shared_ptr<RankGroup>> RankSource::meet(int ranks, std::chrono::milliseconds timeout)
{
    return std::shared_ptr<RankGroup>(std::make_shared<ThreadGroup>(ranks, timeout));
}

std::unique_ptr<RankSource> makeTrainerSource(const RunRequest& request)
{
    return std::make_unique<TrainerSource>(request);
}

} // namespace mantissa
