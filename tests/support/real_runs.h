#pragma once

#include "engine/history/run_reader.h"
#include "engine/train/local_service.h"
#include "engine/train/trainer.h"
#include "tests/support/rank_threads.h"

#include <QTemporaryDir>

#include <functional>
#include <map>
#include <optional>
#include <utility>

namespace mantissa {

/// A small training on made-up data, the same for any number of ranks: the joint batch is 32 rows.
inline RunPlan smallPlan(StrategyKind strategy, int ranks)
{
    RunPlan plan;
    plan.strategy = strategy;
    plan.ranks = ranks;
    plan.model = MlpPlan{64, 48, 10, 3};
    plan.data = SyntheticPlan{"vectors", 64, 10, 640};
    plan.batchSize = 32 / ranks;
    plan.maxEpochs = 1000;
    plan.maxSteps = 20;
    plan.optimizer = {OptimizerKind::Sgd, OptimizerImpl::ForLoop, 0.05};
    plan.seed = 11;
    return plan;
}

/// The same on made-up tokens; the joint batch is 8 rows.
inline RunPlan tokenPlan(StrategyKind strategy, int ranks, const TransformerPlan& model, std::int64_t samples)
{
    RunPlan plan = smallPlan(strategy, ranks);
    plan.model = model;
    plan.data = SyntheticPlan{"tokens", model.context, 256, samples};
    plan.batchSize = 8 / ranks;
    return plan;
}

inline RunPlan scaledPlan(StrategyKind strategy, int ranks)
{
    RunPlan plan = smallPlan(strategy, ranks);
    plan.precision = PrecisionMode::Fp16Mixed;
    plan.scaler = {true, 1024.0, 2.0, 0.5, 2000};
    plan.optimizer = OptimizerPlan(); // AdamW, foreach
    plan.optimizer.learningRate = 1e-3;
    return plan;
}

/// Trains on bare ranks, without a session; `after` sees each rank after each step.
inline TrainerState trainBare(const RunPlan& plan,
                              const std::function<void(Trainer&, const StepReport&, int rank)>& after = {})
{
    auto prepared = prepareRun(plan);
    if (!prepared)
        throw std::runtime_error(prepared.error().message);
    TrainerState whole;
    runRanks(plan.ranks, [&](Communicator& comm) {
        Trainer trainer(*prepared, comm);
        while (!trainer.finished()) {
            const auto report = trainer.step();
            if (after)
                after(trainer, report, comm.rank());
        }
        auto state = trainer.state();
        if (comm.rank() == 0)
            whole = std::move(state);
    });
    return whole;
}

/// A run as the window starts it, until its end.
struct RealRun {
    explicit RealRun(const RunPlan& plan, SessionOptions options = {},
                     const std::optional<ResumePoint>& resume = {})
        : service(makeLocalService(options))
    {
        RunRequest request;
        request.plan = plan;
        request.name = "real";
        request.history = folder.path().toStdString();
        request.resume = resume;
        run = *service->start(request);
    }

    /// Its newest checkpoint.
    ResumePoint end() const
    {
        const auto all = (*RunReader::open(run->folder()))->checkpoints();
        return {run->folder() / all->back().path, run->id(), all->back().step};
    }

    QTemporaryDir folder;
    std::unique_ptr<TrainingService> service;
    std::unique_ptr<TrainingRun> run;
};

} // namespace mantissa
