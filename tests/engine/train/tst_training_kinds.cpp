#include "engine/comm/thread_group.h"
#include "engine/strategy/strategy.h"
#include "engine/train/trainer.h"

#include <QTest>

#include <cmath>
#include <thread>

using namespace mantissa;

// Every optimizer, schedule and precision in whole trainings.

namespace {

RunPlan basePlan()
{
    RunPlan plan;
    plan.model = MlpPlan{16, 80, 4, 3}; // One weight of 6,400 elements: packed by 8-bit optimizers.
    plan.data = SyntheticPlan{"vectors", 16, 4, 64};
    plan.batchSize = 8;
    plan.maxEpochs = 2;
    plan.optimizer.impl = OptimizerImpl::ForLoop;
    plan.optimizer.learningRate = 0.005;
    return plan;
}

struct Training {
    std::vector<StepReport> reports; ///< Of rank 0.
    std::vector<std::pair<std::string, at::Tensor>> parameters;
    std::string failed;
};

Training trained(const RunPlan& plan)
{
    Training training;
    auto prepared = prepareRun(plan);
    if (!prepared) {
        training.failed = prepared.error().message;
        return training;
    }
    ThreadGroup group(plan.ranks, std::chrono::seconds(30));
    const auto rank = [&](int number) {
        const auto communicator = group.communicator(number);
        Trainer trainer(*prepared, *communicator);
        try {
            while (!trainer.finished()) {
                auto report = trainer.step();
                if (number == 0)
                    training.reports.push_back(std::move(report));
            }
            auto parameters = trainer.strategy().fullParameters(number == 0);
            if (number == 0)
                training.parameters = std::move(parameters);
        } catch (const std::exception& error) {
            training.failed = error.what();
            group.abort(error.what());
        }
    };
    {
        std::vector<std::jthread> others;
        for (int number = 1; number < plan.ranks; ++number)
            others.emplace_back(rank, number);
        rank(0);
    }
    return training;
}

double apart(const Training& a, const Training& b)
{
    double worst = 0.0;
    for (std::size_t i = 0; i < a.parameters.size(); ++i)
        worst = std::max(worst, (a.parameters[i].second - b.parameters[i].second).abs().max().item<double>());
    return a.parameters.empty() || a.parameters.size() != b.parameters.size() ? 1e9 : worst;
}

RunPlan sharded(RunPlan plan, StrategyKind strategy)
{
    plan.strategy = strategy;
    plan.ranks = 2;
    return plan;
}

} // namespace

class TestTrainingKinds : public QObject {
    Q_OBJECT

private slots:
    void everyOptimizerTrainsShardedAsReplicated_data()
    {
        QTest::addColumn<int>("kind");
        for (int kind = 0; kind <= static_cast<int>(OptimizerKind::Sgd8bit); ++kind)
            QTest::addRow("%d", kind) << kind;
    }
    void everyOptimizerTrainsShardedAsReplicated()
    {
        QFETCH(int, kind);
        RunPlan plan = basePlan();
        plan.optimizer.kind = static_cast<OptimizerKind>(kind);
        plan.optimizer.momentum = 0.9;
        // The sign of Lion turns on the last bit, and blocks of 8-bit states begin elsewhere in a shard.
        const bool coarse = plan.optimizer.hasEightBitState() || plan.optimizer.kind == OptimizerKind::Lion;
        if (coarse || plan.optimizer.kind == OptimizerKind::RmsProp)
            plan.optimizer.learningRate = 0.001;
        if (plan.optimizer.needsClosure()) {
            plan.optimizer.lbfgs.strongWolfe = true;
            plan.optimizer.lbfgs.maxIterations = 4;
            plan.optimizer.learningRate = 0.5;
        }

        const auto replicated = trained(sharded(plan, StrategyKind::Ddp));
        const auto shards = trained(sharded(plan, StrategyKind::Fsdp));

        QCOMPARE(replicated.failed + shards.failed, std::string());
        QVERIFY(replicated.reports.back().loss < replicated.reports.front().loss);
        const double away = apart(replicated, shards);
        QVERIFY2(away < (coarse ? 0.02 : 1e-3), std::to_string(away).c_str());
    }

    void lbfgsEvaluatesTheWindowAgain()
    {
        RunPlan plan = basePlan();
        plan.optimizer.kind = OptimizerKind::Lbfgs;
        plan.optimizer.learningRate = 1.0;
        plan.optimizer.lbfgs.strongWolfe = true;
        plan.accumulate = {{0, 2}};
        plan.clip = {ClipKind::Norm, 100.0, 2.0};

        const auto lbfgs = trained(plan);

        QCOMPARE(lbfgs.failed, std::string());
        QCOMPARE(lbfgs.reports.size(), std::size_t{8});
        QCOMPARE(lbfgs.reports.front().losses.size(), std::size_t{2});
        QCOMPARE(lbfgs.reports.back().optimizerSteps, 8.0);
        QVERIFY(lbfgs.reports[1].loss < 0.9 * lbfgs.reports[0].loss);
    }

    void doublePrecisionIsDouble_data()
    {
        QTest::addColumn<int>("strategy");
        QTest::newRow("ddp") << static_cast<int>(StrategyKind::Ddp);
        QTest::newRow("fsdp") << static_cast<int>(StrategyKind::Fsdp);
    }
    void doublePrecisionIsDouble()
    {
        QFETCH(int, strategy);
        RunPlan plan = basePlan();
        plan.precision = PrecisionMode::Fp64True;
        plan.accumulate = {{0, 2}};
        plan.noSync = false;
        plan.clip = {ClipKind::Norm, 0.5, 2.0};

        const auto each = trained(sharded(plan, static_cast<StrategyKind>(strategy)));
        plan.noSync = true;
        const auto once = trained(sharded(plan, static_cast<StrategyKind>(strategy)));

        QCOMPARE(each.failed + once.failed, std::string());
        QCOMPARE(each.parameters[0].second.scalar_type(), at::kDouble);
        QVERIFY2(apart(each, once) < 1e-12, std::to_string(apart(each, once)).c_str());
    }

    void aPlateauWatchesTheTrainingLoss()
    {
        RunPlan plan = basePlan();
        plan.optimizer.learningRate = 1e-12; // Nothing gets better.
        plan.maxEpochs = 5;
        plan.schedule.kind = ScheduleKind::Plateau;
        plan.schedule.interval = ScheduleInterval::Epoch;
        plan.schedule.plateau.patience = 1;
        plan.schedule.plateau.factor = 0.5;
        plan.schedule.plateau.eps = 0.0;

        const auto training = trained(plan);

        QCOMPARE(training.failed, std::string());
        QCOMPARE(training.reports[2 * 8].learningRate, 1e-12);
        QCOMPARE(training.reports[3 * 8].learningRate, 0.5e-12);
    }

    void aScheduleAdvancesAtEveryNthBatch()
    {
        RunPlan plan = basePlan();
        plan.schedule.kind = ScheduleKind::Exponential;
        plan.schedule.gamma = 0.5;
        plan.schedule.frequency = 3;

        const auto training = trained(plan);

        std::vector<double> rates;
        for (const auto& report : training.reports)
            rates.push_back(report.learningRate / 0.005);
        // Batches 3 and 6 of each epoch of 8.
        QCOMPARE(rates,
                 (std::vector<double>{1, 1, 1, .5, .5, .5, .25, .25, .25, .25, .25, .125, .125, .125, .0625,
                                      .0625}));
    }

    void aCycleThatIsTooShortIsRefused()
    {
        RunPlan plan = basePlan();
        plan.schedule.kind = ScheduleKind::OneCycle;
        plan.schedule.oneCycle.maxRate = 0.1;
        plan.schedule.oneCycle.totalSteps = 10;
        QVERIFY2(trained(plan).failed.find("16 times") != std::string::npos, trained(plan).failed.c_str());

        plan.schedule.oneCycle.totalSteps = 16;
        QCOMPARE(trained(plan).failed, std::string());
    }

    void aScaleSetByHandHoldsFromItsStep()
    {
        RunPlan plan = basePlan();
        plan.precision = PrecisionMode::Fp16Mixed;
        plan.scaler.enabled = true;
        plan.scaler.initScale = 1024.0;
        plan.scaler.growthInterval = 6;
        plan.scaler.byHand = {{4, 64.0}};

        const auto training = trained(plan);

        QCOMPARE(training.failed, std::string());
        QCOMPARE(*training.reports[3].lossScale, 1024.0);
        QCOMPARE(*training.reports[4].lossScale, 64.0);
        QCOMPARE(*training.reports[4].growthTracker, std::int64_t{4});
        QCOMPARE(*training.reports[6].lossScale, 128.0); // The tracker went on.
    }

    void aScaleUnderItsFloorRaisesAnAlarm()
    {
        RunPlan plan = basePlan();
        plan.precision = PrecisionMode::Fp16Mixed;
        plan.scaler.enabled = true;
        plan.scaler.initScale = 16.0;
        plan.scaler.floor = 8.0;
        plan.faults = {{0, -1, FaultKind::Inf, 0.0, -1, false}, {1, -1, FaultKind::Inf, 0.0, -1, false}};

        const auto training = trained(plan);

        const auto alarmed = [](const StepReport& report) {
            return std::any_of(report.notes.begin(), report.notes.end(),
                               [](const StepNote& note) { return note.kind == "scale_floor"; });
        };
        QVERIFY(!alarmed(training.reports[0]));
        QVERIFY(alarmed(training.reports[1]));
    }

    void withoutAScalerNothingIsSkipped()
    {
        RunPlan plan = basePlan();
        plan.precision = PrecisionMode::Fp16Mixed;
        plan.scaler.enabled = false;

        const auto training = trained(plan);

        QCOMPARE(training.failed, std::string());
        QVERIFY(!training.reports.front().lossScale);
        QVERIFY(training.reports.back().loss < training.reports.front().loss);
    }
};

QTEST_APPLESS_MAIN(TestTrainingKinds)
#include "tst_training_kinds.moc"
