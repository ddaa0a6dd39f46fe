#pragma once

#include "engine/train/rank_training.h"

#include <array>
#include <atomic>
#include <functional>
#include <mutex>

namespace mantissa {

/// Ranks that go through the stages of a step without a model, and do at each what a test wants.
struct RankScript {
    std::int64_t steps = 10;
    int ranks = 2;
    std::function<void(Communicator&, std::int64_t step, Stage, const std::stop_token&)> at =
        [](Communicator&, std::int64_t, Stage, const std::stop_token&) {};
    std::function<Result<void>()> prepare = [] { return Result<void>(); };
};

class ScriptedRank final : public RankTraining {
public:
    ScriptedRank(const RankScript& script, Communicator& comm) : m_script(script), m_comm(comm) {}

    bool finished() const override { return m_step >= m_script.steps; }

    StepReport step(std::stop_token stop) override
    {
        StepReport report;
        report.step = m_step;
        for (const auto stage : {Stage::Data, Stage::Forward, Stage::Loss, Stage::Backward, Stage::Reduce,
                                 Stage::Optimizer, Stage::Record}) {
            enter(stage);
            report.stages.push_back(stage);
            m_script.at(m_comm, m_step, stage, stop);
            if (stage == Stage::Reduce) {
                double value = 1.0;
                m_comm.allReduce(&value, 1, WireType::F64, ReduceOp::Sum);
                report.loss = value;
            }
        }
        report.stepSeconds = 1e-4;
        ++m_step;
        return report;
    }

    TrainerState state() override
    {
        m_comm.barrier();
        TrainerState state;
        if (m_comm.rank() == 0)
            state.tensors.emplace_back("model.fc1.weight", at::full({2, 3}, static_cast<double>(m_step)));
        state.json = "{}";
        return state;
    }

    TrainerPlace place() const override
    {
        const std::scoped_lock lock(m_mutex);
        return m_place;
    }

private:
    void enter(Stage stage)
    {
        const std::scoped_lock lock(m_mutex);
        m_place = {stage, m_step};
    }

    const RankScript& m_script;
    Communicator& m_comm;
    std::int64_t m_step = 0;
    mutable std::mutex m_mutex;
    TrainerPlace m_place;
};

class ScriptedSource final : public RankSource {
public:
    explicit ScriptedSource(RankScript script) : m_script(std::move(script)) {}

    Result<void> prepare() override { return m_script.prepare(); }
    std::int64_t totalSteps() const override { return m_script.steps; }
    std::unique_ptr<RankTraining> make(Communicator& comm) override
    {
        return std::make_unique<ScriptedRank>(m_script, comm);
    }
    void close() noexcept override {}

private:
    RankScript m_script;
};

} // namespace mantissa
