#include "engine/checkpoint/checkpoint.h"
#include "engine/model/model.h"
#include "engine/strategy/strategy.h"
#include "tests/support/hook_recorder.h"
#include "tests/support/real_runs.h"

#include <QTemporaryDir>
#include <QTest>

#include <cmath>
#include <map>
#include <mutex>

using namespace mantissa;

namespace {

RunPlan planWith(CallbackPlan callback, StrategyKind strategy, int ranks)
{
    RunPlan plan = smallPlan(strategy, ranks);
    plan.data = SyntheticPlan{"vectors", 64, 10, 128}; // 4 joint batches in an epoch
    plan.maxEpochs = 4;
    plan.maxSteps = -1;
    plan.callbacks = {std::move(callback)};
    return plan;
}

using Weights = std::map<std::string, at::Tensor>;

/// Whole weights before each step, and at the end.
struct Course {
    std::vector<Weights> before;
    LoopRun run;
};

Course courseOf(const RunPlan& plan)
{
    Course course;
    course.run = runLoop(plan, [&](Trainer& trainer, int rank) {
        Weights now;
        for (auto& [name, tensor] : trainer.strategy().fullParameters(rank == 0))
            now[name] = tensor.clone();
        if (rank == 0)
            course.before.push_back(std::move(now));
    });
    return course;
}

void addStrategies()
{
    QTest::addColumn<int>("strategy");
    QTest::addColumn<int>("ranks");
    QTest::newRow("single") << int(StrategyKind::Single) << 1;
    QTest::newRow("ddp") << int(StrategyKind::Ddp) << 2;
    QTest::newRow("fsdp") << int(StrategyKind::Fsdp) << 2;
}

} // namespace

class TestAveraging : public QObject {
    Q_OBJECT

private slots:
    void swaEndsWithTheMeanOfTheEpochsBeginnings_data() { addStrategies(); }
    void swaEndsWithTheMeanOfTheEpochsBeginnings()
    {
        QFETCH(int, strategy);
        QFETCH(int, ranks);
        SwaPlan swa{.rate = 0.02, .startShare = 0.5, .annealingEpochs = 2, .linear = true};

        const Course course = courseOf(planWith(swa, static_cast<StrategyKind>(strategy), ranks));

        // Start 2 counts from 1: epochs 1, 2 and 3 begin with what is averaged.
        for (const auto& [name, first] : course.before[4]) {
            const at::Tensor mean = (first + course.before[8].at(name) + course.before[12].at(name)) / 3.0;
            QVERIFY2(at::allclose(course.run.tensor("model." + name), mean, 1e-5, 1e-6), name.c_str());
        }
        const auto rate = [&](std::size_t step) { return course.run.reports[step].learningRate; };
        QCOMPARE(rate(3), 0.05);
        QCOMPARE(rate(4), 0.05);
        QVERIFY(std::abs(rate(8) - 0.035) < 1e-12);
        QVERIFY(std::abs(rate(12) - 0.02) < 1e-12);
    }

    void swaAnnealsAlongACosine()
    {
        SwaPlan swa{.rate = 0.01, .startEpoch = 1, .annealingEpochs = 4};
        const LoopRun run = runLoop(planWith(swa, StrategyKind::Single, 1));

        const double way = (1.0 - std::cos(std::acos(-1.0) / 4.0)) / 2.0;
        QVERIFY(std::abs(run.reports[4].learningRate - (0.01 * way + 0.05 * (1.0 - way))) < 1e-12);
    }

    void swaTakesRunningStatisticsAnew()
    {
        SwaPlan swa{.rate = 0.02, .startEpoch = 2};
        RunPlan plan = planWith(swa, StrategyKind::Single, 1);
        plan.model = ConvNetPlan{4, 8, 8, 10, true};
        plan.data = SyntheticPlan{"images", 8, 10, 128};

        const LoopRun run = runLoop(plan);

        // A plain mean over the last epoch's four batches of the averaged first layer.
        const auto prepared = prepareRun(plan);
        QVERIFY(prepared);
        QVERIFY(run.tensor("buffer.bn1.running_var").min().item<double>() > 0.0);
        QCOMPARE(run.tensor("buffer.bn1.num_batches_tracked").item<std::int64_t>(), std::int64_t{20});
    }

    void emaEndsWithTheAverageOfAllSteps_data() { addStrategies(); }
    void emaEndsWithTheAverageOfAllSteps()
    {
        QFETCH(int, strategy);
        QFETCH(int, ranks);
        RunPlan plan = planWith(EmaPlan{.decay = 0.75}, static_cast<StrategyKind>(strategy), ranks);
        plan.maxEpochs = 2;

        const Course course = courseOf(plan);

        plan.callbacks.clear();
        const Course plain = courseOf(plan);
        const Weights last = [&] {
            Weights weights;
            for (const auto& [name, tensor] : plain.before[0])
                weights[name] = plain.run.tensor("model." + name);
            return weights;
        }();
        for (const auto& [name, first] : course.before[1]) {
            QVERIFY(at::equal(first, plain.before[1].at(name))); // training itself is untouched
            at::Tensor average = first.clone();
            for (std::size_t step = 2; step <= course.before.size(); ++step) {
                const auto& now = step < course.before.size() ? course.before[step] : last;
                average = average * 0.75 + now.at(name) * 0.25;
            }
            QVERIFY2(at::allclose(course.run.tensor("model." + name), average, 1e-5, 1e-6), name.c_str());
            QVERIFY(course.run.tensor("callback.EMAWeightAveraging.average." + name).sizes()
                    == first.sizes());
        }
    }

    void emaIsUpdatedWhenItIsAsked()
    {
        RunPlan plan =
            planWith(EmaPlan{.decay = 0.5, .everySteps = 3, .startStep = 4}, StrategyKind::Single, 1);
        plan.maxEpochs = 2; // steps 0 … 7; only step 6 is due

        const Course course = courseOf(plan);

        for (const auto& [name, weight] : course.before[7])
            QVERIFY(at::equal(course.run.tensor("model." + name), weight));
    }

    void validationSeesTheAverageAndTrainingDoesNot_data() { addStrategies(); }
    void validationSeesTheAverageAndTrainingDoesNot()
    {
        QFETCH(int, strategy);
        QFETCH(int, ranks);
        RunPlan plan = planWith(EmaPlan{.decay = 1.0}, static_cast<StrategyKind>(strategy), ranks);
        plan.data = SyntheticPlan{"vectors", 64, 10, 256};
        plan.validation.split = 0.5;
        const LoopRun frozen = runLoop(plan); // the average stays what it was after the first step
        plan.callbacks.clear();
        const LoopRun plain = runLoop(plan);

        const auto loss = frozen.logged("val_loss");
        QCOMPARE(loss.size(), std::size_t{4});
        QCOMPARE(loss[3], loss[0]);
        QVERIFY(plain.logged("val_loss")[3] < loss[3]);
        for (std::size_t step = 0; step < plain.reports.size(); ++step)
            QCOMPARE(frozen.reports[step].loss, plain.reports[step].loss);
    }

    void aResumedRunGoesOnWithItsAverages_data() { addStrategies(); }
    void aResumedRunGoesOnWithItsAverages()
    {
        QFETCH(int, strategy);
        QFETCH(int, ranks);
        RunPlan plan = planWith(EmaPlan{.decay = 0.9}, static_cast<StrategyKind>(strategy), ranks);
        plan.model = ConvNetPlan{4, 8, 8, 10, true};
        plan.data = SyntheticPlan{"images", 8, 10, 256};
        plan.validation.split = 0.5;
        plan.callbacks.push_back(SwaPlan{.rate = 0.02, .startEpoch = 2, .annealingEpochs = 3});
        plan.callbacks.push_back(EarlyStoppingPlan{.monitor = "val_loss", .patience = 100});
        const QTemporaryDir folder;
        const std::filesystem::path checkpoints = folder.path().toStdString();

        const LoopRun whole = runLoop(plan, [&](Trainer& trainer, int rank) {
            if (trainer.place().step != 9) // the last one that was made
                return;
            const TrainerState state = trainer.state();
            if (rank == 0 && !writeCheckpoint(checkpoints, 10, {state}))
                throw std::runtime_error("no checkpoint was written");
        });
        const LoopRun resumed = runLoop(plan, {}, checkpoints / "step-000000010");

        QCOMPARE(resumed.reports.size(), whole.reports.size() - 10);
        for (std::size_t i = 0; i < resumed.reports.size(); ++i) {
            QCOMPARE(resumed.reports[i].loss, whole.reports[i + 10].loss);
            QCOMPARE(resumed.reports[i].learningRate, whole.reports[i + 10].learningRate);
        }
        for (const auto& [name, tensor] : whole.state.tensors)
            QVERIFY2(at::equal(resumed.tensor(name), tensor), name.c_str());
        const auto losses = whole.logged("val_loss");
        QCOMPARE(resumed.logged("val_loss").back(), losses.back());
    }

    void sixteenBitWeightsAreAveragedInThirtyTwo()
    {
        RunPlan plan = planWith(EmaPlan{.decay = 0.9}, StrategyKind::Fsdp, 2);
        plan.precision = PrecisionMode::Bf16True;

        const LoopRun run = runLoop(plan);

        QCOMPARE(run.tensor("callback.EMAWeightAveraging.average.fc1.weight").scalar_type(), at::kFloat);
        QCOMPARE(run.tensor("model.fc1.weight").scalar_type(), at::kBFloat16);
    }
};

QTEST_APPLESS_MAIN(TestAveraging)
#include "tst_averaging.moc"
