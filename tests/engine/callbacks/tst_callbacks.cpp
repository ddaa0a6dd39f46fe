#include "engine/callbacks/callback_list.h"
#include "engine/history/run_reader.h"
#include "tests/support/hook_recorder.h"
#include "tests/support/real_runs.h"

#include <nlohmann/json.hpp>

#include <QTest>

#include <cmath>

using namespace mantissa;

namespace {

RunPlan planWith(std::vector<CallbackPlan> callbacks, StrategyKind strategy = StrategyKind::Single,
                 int ranks = 1)
{
    RunPlan plan = smallPlan(strategy, ranks);
    plan.data = SyntheticPlan{"vectors", 64, 10, 400};
    plan.validation.split = 0.25; // 9 joint batches in an epoch
    plan.maxEpochs = 6;
    plan.maxSteps = -1;
    plan.callbacks = std::move(callbacks);
    return plan;
}

/// Just enough of a training for a callback that looks at series alone.
class ScriptedView final : public TrainingView {
public:
    const RunPlan& plan() const override { return runPlan; }
    Communicator& communicator() override { throw std::logic_error("not scripted"); }
    Strategy& strategy() override { throw std::logic_error("not scripted"); }
    Model& model() override { throw std::logic_error("not scripted"); }
    Optimizer& optimizer() override { throw std::logic_error("not scripted"); }
    std::int64_t step() const override { return 0; }
    std::int64_t epoch() const override { return 0; }
    std::int64_t batch() const override { return 0; }
    bool endsWindow() const override { return true; }
    bool skipped() const override { return false; }
    double gradientFactor() const override { return 1.0; }
    std::optional<double> metric(std::string_view) const override { return value; }
    void log(std::string_view, double) override {}
    void note(std::string, Stage, std::string) override {}
    void keep(std::vector<TensorHistogram>) override {}
    void requestStop(const std::string& why) override { stopped = why; }
    void requestCheckpoint() override {}
    void setLearningRate(double) override {}
    double learningRate() const override { return 0.0; }
    void forwardOverEpoch(const std::function<void(std::int64_t)>&) override {}

    RunPlan runPlan;
    double value = 0.0;
    std::string stopped;
};

/// Checks after which early stopping asks to stop; -1: never.
int stopsAfter(const EarlyStoppingPlan& plan, const std::vector<double>& values)
{
    ScriptedView view;
    const auto callback = makeEarlyStopping(plan);
    callback->setup(view);
    for (std::size_t i = 0; i < values.size(); ++i) {
        view.value = values[i];
        callback->onTrainEpochEnd(view);
        callback->onValidationEnd(view); // not the moment of this one
        if (!view.stopped.empty())
            return static_cast<int>(i);
    }
    return -1;
}

} // namespace

class TestCallbacks : public QObject {
    Q_OBJECT

private slots:
    void earlyStoppingDecidesAsLightningsDoes()
    {
        const double inf = std::numeric_limits<double>::infinity();
        EarlyStoppingPlan plan{.monitor = "val_loss", .patience = 2};
        QCOMPARE(stopsAfter(plan, {3, 2, 2, 1, 1.5, 1}), 5);
        QCOMPARE(stopsAfter(plan, {3, 2, 2, 1, 1.5}), -1);
        QCOMPARE(stopsAfter(plan, {3, inf}), 1);
        QCOMPARE(stopsAfter(plan, {std::nan("")}), 0);
        plan.checkFinite = false;
        QCOMPARE(stopsAfter(plan, {3, inf, 2}), -1);
        plan.minDelta = 0.5;
        QCOMPARE(stopsAfter(plan, {3, 2.6, 2.5}), 2); // neither is better by more than 0.5
        plan.minDelta = 0.0;
        plan.stoppingThreshold = 1.0;
        QCOMPARE(stopsAfter(plan, {3, 1, 0.9}), 2);
        plan.divergenceThreshold = 10.0;
        QCOMPARE(stopsAfter(plan, {3, 10, 11}), 2);
        plan = {.monitor = "accuracy", .mode = MonitorMode::Max, .patience = 1, .minDelta = 0.1};
        QCOMPARE(stopsAfter(plan, {0.1, 0.3, 0.35}), 2);
        plan.stoppingThreshold = 0.9;
        QCOMPARE(stopsAfter(plan, {0.1, 0.95}), 1);
    }

    void earlyStoppingGoesOnFromItsState()
    {
        ScriptedView view;
        const EarlyStoppingPlan plan{.monitor = "loss", .patience = 2};
        const auto first = makeEarlyStopping(plan);
        first->setup(view);
        const auto fresh = first->stateDict();
        view.value = 1.0;
        first->onTrainEpochEnd(view);
        view.value = 2.0;
        first->onTrainEpochEnd(view);
        const auto resumed = makeEarlyStopping(plan);
        resumed->setup(view);

        resumed->loadStateDict(fresh); // its best is infinite, which JSON cannot say
        resumed->loadStateDict(first->stateDict());
        resumed->onTrainEpochEnd(view);

        QVERIFY(!view.stopped.empty());
    }

    void aStopEndsTheEpochWithValidationAndTheTraining()
    {
        RunPlan plan = planWith({EarlyStoppingPlan{.monitor = "loss", .stoppingThreshold = 1e9}});
        plan.validation.intervalShare = 0.34; // every third batch: checks at validation

        const LoopRun run = runLoop(plan);

        QCOMPARE(run.reports.size(), std::size_t{3});
        QCOMPARE(run.notes("stop_asked").size(), std::size_t{1});
        QCOMPARE(run.logged("val_loss").size(), std::size_t{1});
        QCOMPARE(run.hooks.back(), std::string("train_end"));
        QCOMPARE(run.hooks[run.hooks.size() - 2], std::string("epoch_end"));
    }

    void aStopWaitsForTheLeastLength()
    {
        RunPlan plan = planWith({StopOnNanPlan{}});
        plan.faults = {{2, -1, FaultKind::NaN, 0.0, -1, false}};
        QCOMPARE(runLoop(plan).reports.size(), std::size_t{3});
        plan.minSteps = 5;
        QCOMPARE(runLoop(plan).reports.size(), std::size_t{5});
        plan.minEpochs = 1;
        QCOMPARE(runLoop(plan).reports.size(), std::size_t{9});
        plan.trial = true;
        QCOMPARE(runLoop(plan).reports.size(), std::size_t{54});
    }

    void allRanksStopTogether()
    {
        RunPlan plan =
            planWith({StopOnNanPlan{2}, TimerPlan{1e-9, CallbackInterval::Epoch}}, StrategyKind::Fsdp, 2);
        plan.faults = {{4, 1, FaultKind::NaN, 0.0, -1, false}, {5, 1, FaultKind::NaN, 0.0, -1, false}};
        QCOMPARE(runLoop(plan).reports.size(), std::size_t{6});
        plan.faults = {{4, 1, FaultKind::NaN, 0.0, -1, false}};
        plan.callbacks = {StopOnNanPlan{20}, TimerPlan{1e-9, CallbackInterval::Epoch}};
        QCOMPARE(runLoop(plan).reports.size(), std::size_t{9}); // the timer, at the epoch's end
    }

    void aSpikeStopsTheTraining()
    {
        RunPlan plan = planWith({SpikePlan{}}, StrategyKind::Ddp, 2);
        plan.faults = {{4, 1, FaultKind::Spike, 100.0, -1, false}};

        const LoopRun run = runLoop(plan);

        QCOMPARE(run.reports.size(), std::size_t{5});
        QCOMPARE(run.notes("stop_asked").size(), std::size_t{1});
        QCOMPARE(runLoop(planWith({SpikePlan{}})).reports.size(), std::size_t{54});
    }

    void aSpikeCanBeLeftOut_data()
    {
        QTest::addColumn<int>("strategy");
        QTest::addColumn<int>("precision");
        for (const auto strategy : {StrategyKind::Ddp, StrategyKind::Fsdp}) {
            for (const auto mode : {PrecisionMode::Fp32True, PrecisionMode::Fp16Mixed})
                QTest::addRow("%d %s", int(strategy), precisionId(mode).data()) << int(strategy) << int(mode);
        }
    }
    void aSpikeCanBeLeftOut()
    {
        QFETCH(int, strategy);
        QFETCH(int, precision);
        RunPlan plan = planWith({SpikePlan{.skips = true}}, static_cast<StrategyKind>(strategy), 2);
        plan.precision = static_cast<PrecisionMode>(precision);
        plan.scaler.enabled = plan.precision == PrecisionMode::Fp16Mixed;
        plan.scaler.initScale = 256.0;
        plan.maxEpochs = 1;
        plan.faults = {{4, 1, FaultKind::Inf, 0.0, -1, false}};

        const LoopRun run = runLoop(plan);

        QCOMPARE(run.reports.size(), std::size_t{9});
        const auto& hit = run.reports[4];
        QVERIFY(hit.skipped && hit.leftOut && !hit.parametersChanged);
        QCOMPARE(hit.nonfiniteBefore, std::int64_t{0});
        QCOMPARE(hit.optimizerSteps, 4.0);
        QVERIFY(!run.reports[5].skipped && run.reports[5].parametersChanged);
        QVERIFY(std::isfinite(run.reports[8].loss));
        if (plan.scaler.enabled)
            QCOMPARE(*run.reports[5].lossScale, 256.0); // nothing overflowed
    }

    void theRestOfAWindowCountsWhereOneBatchIsLeftOut()
    {
        for (const auto strategy : {StrategyKind::Ddp, StrategyKind::Fsdp}) {
            RunPlan plan = planWith({SpikePlan{.skips = true}}, strategy, 2);
            plan.maxEpochs = 1;
            plan.accumulate = {{0, 3}};
            plan.faults = {{0, 1, FaultKind::Spike, 1e4, 5, false}}; // the second window's last batch
            const LoopRun run = runLoop(plan);
            QCOMPARE(run.notes("stop_asked").size(), std::size_t{0});
            QVERIFY(!run.reports[1].leftOut && run.reports[1].parametersChanged);
            QVERIFY(run.reports[1].gradNorm > 0.0 && run.reports[1].gradNorm < 10.0);
            QVERIFY(run.reports[2].loss < 3.0);
        }
    }

    void theMonitorLogsRatesWhereItIsAsked()
    {
        RunPlan plan = planWith({LearningRateMonitorPlan{CallbackInterval::Epoch, true, true}});
        plan.optimizer.momentum = 0.9;
        plan.optimizer.weightDecay = 0.25;
        plan.maxEpochs = 2;
        const LoopRun byEpoch = runLoop(plan);
        plan.callbacks = {LearningRateMonitorPlan{}};
        const LoopRun byStep = runLoop(plan);

        QCOMPARE(byEpoch.logged("monitored_lr"), (std::vector<double>{0.05, 0.05}));
        QCOMPARE(byEpoch.logged("momentum")[0], 0.9);
        QCOMPARE(byEpoch.logged("weight_decay")[0], 0.25);
        QCOMPARE(byStep.logged("monitored_lr").size(), std::size_t{18});
    }

    void deviceStatsAreTakenEveryFewSteps()
    {
        RunPlan plan = planWith({DeviceStatsPlan{4}}, StrategyKind::Ddp, 2);
        plan.maxEpochs = 1;

        const LoopRun run = runLoop(plan);

        QCOMPARE(run.logged("process_memory").size(), std::size_t{3});
        QVERIFY(run.logged("process_memory")[0] > 1e6);
        for (const double share : run.logged("memory_percent"))
            QVERIFY(share > 0.0 && share <= 100.0);
    }

    void histogramsCountEveryElementOnce_data()
    {
        QTest::addColumn<int>("strategy");
        QTest::addColumn<int>("ranks");
        QTest::newRow("single") << int(StrategyKind::Single) << 1;
        QTest::newRow("ddp") << int(StrategyKind::Ddp) << 2;
        QTest::newRow("fsdp") << int(StrategyKind::Fsdp) << 2;
    }
    void histogramsCountEveryElementOnce()
    {
        QFETCH(int, strategy);
        QFETCH(int, ranks);
        RunPlan plan = planWith({HistogramPlan{4}}, static_cast<StrategyKind>(strategy), ranks);
        plan.precision = PrecisionMode::Fp16Mixed;
        plan.scaler = {true, 256.0, 2.0, 0.5, 2000};
        plan.maxEpochs = 1;

        const LoopRun run = runLoop(plan);

        for (const auto& report : run.reports)
            QCOMPARE(report.histograms.size(), std::size_t{report.step % 4 == 0 ? 18u : 0u});
        for (const auto& found : run.reports[4].histograms)
            QCOMPARE(static_cast<std::int64_t>(found.exponents.total()),
                     run.tensor("model." + found.tensor).numel());
        // Unscaled: a mean gradient of a classifier lies far below 1.
        for (const auto& found : run.reports[0].histograms) {
            if (found.quantity != "gradient")
                continue;
            const auto& counts = found.exponents.counts;
            for (int exponent = 3; exponent <= ExponentHistogram::kHighest; ++exponent)
                QCOMPARE(counts[static_cast<std::size_t>(exponent - ExponentHistogram::kLowest)],
                         std::uint64_t{0});
        }
    }

    void checkpointsComeWhenLightningWouldSave()
    {
        const auto steps = [](const RunPlan& plan) {
            std::vector<std::int64_t> due;
            for (const auto& report : runLoop(plan).reports) {
                if (report.checkpointDue)
                    due.push_back(report.step);
            }
            return due;
        };
        RunPlan plan = planWith({}); // 9 steps in an epoch
        plan.maxEpochs = 4;
        plan.checkpoints.everyEpochs = 2;
        QCOMPARE(steps(plan), (std::vector<std::int64_t>{17, 35}));
        plan.checkpoints.everyEpochs = 1;
        plan.validation.intervalShare = 0.5; // now with each validation
        plan.maxEpochs = 1;
        QCOMPARE(steps(plan), (std::vector<std::int64_t>{3, 7}));
        plan.checkpoints.onTrainEpochEnd = true;
        QCOMPARE(steps(plan), (std::vector<std::int64_t>{8}));
    }

    void seriesOfCallbacksAreStored()
    {
        RunPlan plan = planWith({LearningRateMonitorPlan{}, DeviceStatsPlan{1}});
        plan.maxEpochs = 1;
        RealRun real(plan);
        QVERIFY(real.run->wait(std::chrono::seconds(60)));
        const auto reader = RunReader::open(real.run->folder());

        const auto rates = (*reader)->points({"monitored_lr", "1", -1, "train", true});

        QVERIFY2(rates, rates ? "" : rates.error().message.c_str());
        QCOMPARE(rates->value.size(), std::size_t{9});
        QCOMPARE(rates->value[0], 0.05);
    }

    void histogramsAreStored()
    {
        RunPlan plan = planWith({HistogramPlan{4}}, StrategyKind::Fsdp, 2);
        plan.maxEpochs = 1;
        RealRun real(plan);
        QVERIFY(real.run->wait(std::chrono::seconds(60)));
        const auto reader = RunReader::open(real.run->folder());

        const auto some = (*reader)->histograms(4, 7);
        const auto all = (*reader)->histograms(0, 100);

        QVERIFY2(some && all, some ? "" : some.error().message.c_str());
        QCOMPARE(some->size(), std::size_t{18});
        QCOMPARE(all->size(), std::size_t{54});
        const auto& first = some->front();
        QCOMPARE(first.step, std::int64_t{4});
        QCOMPARE(first.tensor + " " + first.quantity, std::string("fc1.bias gradient"));
        QCOMPARE(first.exponents.total(), std::uint64_t{48});
    }

    void everyCallbackKeepsItsStateUnderItsName()
    {
        RunPlan plan = planWith({EarlyStoppingPlan{.monitor = "loss"},
                                 EarlyStoppingPlan{.monitor = "val_loss"}, SpikePlan{}, TimerPlan{}});
        plan.maxEpochs = 1;
        const LoopRun run = runLoop(plan);

        const auto kept = nlohmann::json::parse(run.state.json).at("callbacks");

        for (const auto* name : {"EarlyStopping", "EarlyStopping#2", "SpikeDetection", "Timer"})
            QVERIFY2(kept.contains(name), name);
        QCOMPARE(kept.at("SpikeDetection").at("window").size(), std::size_t{9});
        QVERIFY(kept.at("Timer").at("time_elapsed").get<double>() > 0.0);
    }
};

QTEST_APPLESS_MAIN(TestCallbacks)
#include "tst_callbacks.moc"
