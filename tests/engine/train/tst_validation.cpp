#include "engine/data/data_set.h"
#include "engine/history/run_reader.h"
#include "engine/model/model.h"
#include "tests/engine/model/whole_weights.h"
#include "tests/support/hook_recorder.h"
#include "tests/support/real_runs.h"

#include <QTest>

#include <cmath>
#include <numeric>

using namespace mantissa;

namespace {

RunPlan validatedPlan(StrategyKind strategy = StrategyKind::Single, int ranks = 1)
{
    RunPlan plan = smallPlan(strategy, ranks);
    plan.data = SyntheticPlan{"vectors", 64, 10, 400};
    plan.validation.split = 0.25; // 300 train samples: 9 joint batches of 32; 100 to validate on
    plan.maxEpochs = 2;
    plan.maxSteps = -1;
    return plan;
}

std::string joined(const std::vector<std::string>& words)
{
    std::string text;
    for (const auto& word : words)
        text += (text.empty() ? "" : " ") + word;
    return text;
}

int count(const LoopRun& run, const std::string& hook)
{
    return static_cast<int>(std::count(run.hooks.begin(), run.hooks.end(), hook));
}

/// Steps after which a validation was logged.
std::vector<std::int64_t> validated(const LoopRun& run)
{
    std::vector<std::int64_t> steps;
    for (const auto& report : run.reports) {
        for (const auto& logged : report.logged) {
            if (logged.series == "val_loss")
                steps.push_back(report.step);
        }
    }
    return steps;
}

} // namespace

class TestValidation : public QObject {
    Q_OBJECT

private slots:
    void hooksComeInLightningsOrder()
    {
        RunPlan plan = validatedPlan();
        plan.limitBatches = 2;
        plan.accumulate = {{0, 2}};
        plan.maxEpochs = 1;
        plan.validation.limitBatches = 1;

        const LoopRun run = runLoop(plan);

        QCOMPARE(joined(run.hooks),
                 std::string("setup fit_start sanity_start val_start val_epoch_start sanity_end train_start "
                             "epoch_start batch_start before_backward after_backward batch_end batch_start "
                             "before_backward after_backward before_step batch_end val_start val_epoch_start "
                             "val_epoch_end val_end epoch_end train_end"));
        QCOMPARE(run.notes("sanity_check").size(), std::size_t{1});
    }

    void theLossIsTheMeanOverEverySampleKeptBack()
    {
        RunPlan plan = validatedPlan();
        plan.maxEpochs = 1;
        const LoopRun run = runLoop(plan);
        const auto data = openData(plan);
        std::vector<std::int64_t> samples(100);
        std::iota(samples.begin(), samples.end(), 0);
        const Batch kept = data->validation->take(samples);
        const auto model = makeModel(plan.model, 1, 0);
        std::vector<at::Tensor> trained;
        for (const auto& spec : model->parameters())
            trained.push_back(run.tensor("model." + spec.name));
        WholeWeights weights(*model, trained);
        const at::NoGradGuard noGrad;

        const at::Tensor logits = model->forward(kept.input, weights, false);

        const auto loss = run.logged("val_loss");
        QCOMPARE(loss.size(), std::size_t{1});
        QVERIFY(std::abs(loss[0] - at::cross_entropy_loss(logits, kept.target).item<double>()) < 1e-5);
        const double right = logits.argmax(1).eq(kept.target).sum().item<double>();
        QCOMPARE(run.logged("val_accuracy")[0], right / 100.0);
        QVERIFY(run.logged("val_perplexity").empty());
    }

    void trainingIsTheSameWithAndWithoutIt_data()
    {
        QTest::addColumn<int>("strategy");
        QTest::addColumn<int>("ranks");
        QTest::newRow("single") << int(StrategyKind::Single) << 1;
        QTest::newRow("ddp") << int(StrategyKind::Ddp) << 2;
        QTest::newRow("fsdp") << int(StrategyKind::Fsdp) << 2;
    }
    void trainingIsTheSameWithAndWithoutIt()
    {
        QFETCH(int, strategy);
        QFETCH(int, ranks);
        RunPlan plan = validatedPlan(static_cast<StrategyKind>(strategy), ranks);
        plan.model =
            TransformerPlan{.vocab = 10, .context = 8, .width = 16, .heads = 2, .layers = 2, .dropout = 0.2};
        plan.data = SyntheticPlan{"tokens", 8, 10, 400};
        plan.accumulate = {{0, 3}};
        plan.validation.everyBatches = 2; // inside windows too

        const LoopRun with = runLoop(plan);
        plan.validation.sanityBatches = 0;
        plan.validation.everyBatches = 9;
        const LoopRun rarely = runLoop(plan);

        QCOMPARE(validated(with).size(), std::size_t{8});
        QCOMPARE(validated(rarely).size(), std::size_t{2});
        for (const auto& [name, tensor] : rarely.state.tensors)
            QVERIFY2(at::equal(tensor, with.tensor(name)), name.c_str());
        const auto loss = with.logged("val_loss");
        QVERIFY(loss.back() < loss.front());
        QCOMPARE(with.logged("val_perplexity").back(), std::exp(loss.back()));
    }

    void everyStrategyMeasuresTheSame()
    {
        const auto single = runLoop(validatedPlan()).logged("val_loss");
        const auto ddp = runLoop(validatedPlan(StrategyKind::Ddp, 4)).logged("val_loss");
        const auto fsdp = runLoop(validatedPlan(StrategyKind::Fsdp, 4)).logged("val_loss");

        QCOMPARE(single.size(), std::size_t{2});
        for (std::size_t i = 0; i < 2; ++i) {
            QVERIFY(std::abs(ddp[i] - single[i]) < 1e-4);
            QVERIFY(std::abs(fsdp[i] - single[i]) < 1e-4);
        }
    }

    void everyPrecisionValidates_data()
    {
        QTest::addColumn<int>("precision");
        QTest::addColumn<int>("strategy");
        for (const auto mode : {PrecisionMode::Fp16True, PrecisionMode::Bf16True, PrecisionMode::Fp16Mixed,
                                PrecisionMode::Bf16Mixed}) {
            for (const auto strategy : {StrategyKind::Ddp, StrategyKind::Fsdp})
                QTest::addRow("%s %d", precisionId(mode).data(), int(strategy)) << int(mode) << int(strategy);
        }
    }
    void everyPrecisionValidates()
    {
        QFETCH(int, precision);
        QFETCH(int, strategy);
        RunPlan plan = validatedPlan(static_cast<StrategyKind>(strategy), 2);
        plan.model = ConvNetPlan{4, 8, 8, 10, true};
        plan.data = SyntheticPlan{"images", 8, 10, 400};
        plan.precision = static_cast<PrecisionMode>(precision);
        plan.scaler.enabled = plan.precision == PrecisionMode::Fp16Mixed;
        plan.scaler.initScale = 1024.0;
        plan.optimizer.learningRate = 0.1;

        const LoopRun run = runLoop(plan);

        const auto loss = run.logged("val_loss");
        QCOMPARE(loss.size(), std::size_t{2});
        QVERIFY(std::isfinite(loss[1]) && loss[1] < loss[0]);
        QCOMPARE(runLoop(plan).logged("val_loss"), loss);
    }

    void intervalsMeanWhatTheTrainerMeans()
    {
        RunPlan plan = validatedPlan(); // 9 batches in an epoch
        plan.validation.intervalShare = 0.5; // every 4 batches
        QCOMPARE(validated(runLoop(plan)), (std::vector<std::int64_t>{3, 7, 12, 16}));
        plan.validation.everyEpochs = 2;
        QCOMPARE(validated(runLoop(plan)), (std::vector<std::int64_t>{12, 16}));
        plan.validation.everyEpochs = 0; // across epochs
        plan.validation.everyBatches = 5;
        QCOMPARE(validated(runLoop(plan)), (std::vector<std::int64_t>{4, 9, 14}));
    }

    void limitsCutARound()
    {
        RunPlan plan = validatedPlan();
        plan.maxEpochs = 1;
        plan.validation.limitShare = 0.5;
        const auto half = runLoop(plan).logged("val_loss");
        plan.validation.limitBatches = 2;
        const auto two = runLoop(plan).logged("val_loss");
        plan.validation.limitBatches = 0;
        const LoopRun none = runLoop(plan);

        QCOMPARE(half, two); // of four batches
        QVERIFY(none.logged("val_loss").empty());
        QCOMPARE(count(none, "sanity_start"), 0);
    }

    void anIntervalThatIsNeverReachedIsRefused()
    {
        RunPlan plan = validatedPlan();
        plan.validation.everyBatches = 10;

        const auto prepared = prepareRun(plan);

        QVERIFY(!prepared);
        QVERIFY(prepared.error().message.find("val_check_interval is 10") != std::string::npos);
        QVERIFY(!prepared.error().hint.empty());
    }

    void anEpochMayBeAShareOfTheData()
    {
        RunPlan plan = validatedPlan();
        plan.limitShare = 0.5;
        plan.maxEpochs = 1;

        QCOMPARE(runLoop(plan).reports.size(), std::size_t{4});
    }

    void itsSeriesAreStored()
    {
        RunPlan plan = validatedPlan(StrategyKind::Ddp, 2);
        RealRun real(plan);
        QVERIFY(real.run->wait(std::chrono::seconds(60)));

        const auto summary = real.run->summary();

        QVERIFY(summary.final.contains("val_loss") && summary.final.contains("val_accuracy"));
        const auto reader = RunReader::open(summary.folder);
        const auto points = (*reader)->points({"val_loss", "1", -1, "val", true});
        QVERIFY2(points, points ? "" : points.error().message.c_str());
        QCOMPARE(points->step, (std::vector<std::int64_t>{8, 17}));
    }
};

QTEST_APPLESS_MAIN(TestValidation)
#include "tst_validation.moc"
