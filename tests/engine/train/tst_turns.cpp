#include "engine/callbacks/callback_list.h"
#include "engine/model/model.h"
#include "engine/optim/optimizer.h"
#include "engine/strategy/strategy.h"
#include "engine/train/prepared_run.h"
#include "tests/support/gan_runs.h"
#include "tests/support/small_models.h"

#include <QTest>

#include <cmath>
#include <limits>

using namespace mantissa;

namespace {

/// Makes one gradient element of one optimizer Inf, in one step.
class Spoiler final : public Callback {
public:
    Spoiler(std::int64_t step, std::size_t turn) : m_step(step), m_turn(turn) {}

    void onTrainBatchStart(TrainingView&) override { m_now = 0; }
    void onAfterBackward(TrainingView& view) override
    {
        const at::NoGradGuard noGrad;
        if (m_now++ == m_turn && view.step() == m_step)
            view.optimizer().parameters().front().grad().flatten()[0].fill_(
                std::numeric_limits<double>::infinity());
    }

private:
    std::int64_t m_step;
    std::size_t m_turn;
    std::size_t m_now = 0;
};

/// Leaves out the pass of one turn in one step.
class Refuser final : public Callback {
public:
    Refuser(std::int64_t step, std::size_t turn) : m_step(step), m_turn(turn) {}

    void onTrainBatchStart(TrainingView&) override { m_now = 0; }
    bool onBeforeBackward(TrainingView& view, double) override
    {
        return m_now++ != m_turn || view.step() != m_step;
    }

private:
    std::int64_t m_step;
    std::size_t m_turn;
    std::size_t m_now = 0;
};

struct Trained {
    std::vector<StepReport> reports;
    std::vector<NamedTensors> weights; ///< After each step.
};

Trained trained(const RunPlan& plan, std::unique_ptr<Callback> callback = {})
{
    auto prepared = prepareRun(plan);
    if (!prepared)
        throw std::runtime_error(prepared.error().message);
    Trained run;
    runRanks(1, [&](Communicator& comm) {
        TrainerSeams seams;
        seams.addCallbacks = [&](CallbackList& list) {
            if (callback)
                list.add("Test", std::move(callback));
        };
        Trainer trainer(*prepared, comm, seams);
        while (!trainer.finished()) {
            run.reports.push_back(trainer.step());
            run.weights.push_back(trainer.strategy().fullParameters(true));
        }
    });
    return run;
}

bool moved(const Trained& run, std::size_t step, const std::string& network)
{
    bool any = false;
    for (const auto& [name, after] : run.weights[step])
        if (name.starts_with(network))
            any = any || !at::equal(after, tensorNamed(run.weights[step - 1], name));
    return any;
}

/// Weights as plain leaves, for a training written down by hand.
class Leaves final : public WeightAccess {
public:
    Leaves(const Model& model, std::vector<at::Tensor> weights)
        : m_model(model), m_weights(std::move(weights))
    {
        for (auto& weight : m_weights)
            weight.set_requires_grad(true);
    }
    std::vector<at::Tensor> enter(int unit) override
    {
        std::vector<at::Tensor> some;
        for (std::size_t i = 0; i < m_weights.size(); ++i)
            if (m_model.parameters()[i].unit == unit)
                some.push_back(m_weights[i]);
        return some;
    }
    at::Tensor leave(int, const at::Tensor& output) override { return output; }
    std::vector<at::Tensor> of(const std::string& network) const
    {
        std::vector<at::Tensor> some;
        for (std::size_t i = 0; i < m_weights.size(); ++i)
            if (m_model.parameters()[i].name.starts_with(network))
                some.push_back(m_weights[i]);
        return some;
    }
    const std::vector<at::Tensor>& all() const { return m_weights; }

private:
    const Model& m_model;
    std::vector<at::Tensor> m_weights;
};

} // namespace

class TestTurns : public QObject {
    Q_OBJECT

private slots:
    void theDiscriminatorStepsFirstAndTheGeneratorSeesIt()
    {
        RunPlan plan = ganPlan(StrategyKind::Single, 1);
        plan.maxSteps = 3;
        const auto run = trained(plan);
        auto prepared = prepareRun(plan);
        QVERIFY(prepared);
        const auto model = makeModel(plan.model, plan.seed, 0);
        Leaves leaves(*model, initialWeights(plan.model, plan.seed));
        std::vector<std::unique_ptr<Optimizer>> optimizers;
        for (const auto& own : plan.ownOptimizers)
            optimizers.push_back(makeOptimizer(own.plan, leaves.of(own.name)));

        for (std::int64_t step = 0; step < plan.maxSteps; ++step) {
            const Batch batch = (*prepared)->loader->next(0);
            for (std::size_t turn = 0; turn < 2; ++turn) {
                for (const auto& weight : leaves.all())
                    at::Tensor(weight).mutable_grad().reset();
                const auto answers = model->answer(batch, leaves, {turn, step, 0, 1});
                at::binary_cross_entropy_with_logits(answers.scores, answers.wanted).backward();
                optimizers[turn]->step();
            }
        }

        for (std::size_t i = 0; i < leaves.all().size(); ++i)
            QVERIFY2(at::equal(leaves.all()[i].detach(), run.weights.back()[i].second),
                     run.weights.back()[i].first.c_str());
    }

    void aTurnLeavesTheOtherNetworkWithoutAGradient()
    {
        const auto model = makeModel(GanPlan{16, 8, 24, 2, 1}, 3, 0);
        Leaves leaves(*model, initialWeights(GanPlan{16, 8, 24, 2, 1}, 3));
        const Batch batch{at::randn({6, 16}, seeded(1)), at::zeros({6}, at::kLong)};
        for (std::size_t turn = 0; turn < 2; ++turn) {
            for (const auto& weight : leaves.all())
                at::Tensor(weight).mutable_grad().reset();
            model->answer(batch, leaves, {turn, 0, 0, 1}).scores.sum().backward();
            for (const auto& weight : leaves.of(turn == 0 ? "generator." : "discriminator."))
                QVERIFY(!weight.grad().defined());
            for (const auto& weight : leaves.of(turn == 0 ? "discriminator." : "generator."))
                QVERIFY(weight.grad().defined());
        }
    }

    void noiseIsTheSameOnOneRankAsOnSeveralAndAnotherInEachPass()
    {
        const GanPlan plan{16, 8, 24, 2, 1};
        const auto model = makeModel(plan, 3, 0);
        Leaves leaves(*model, initialWeights(plan, 3));
        const Batch whole{at::zeros({8, 16}), at::zeros({8}, at::kLong)};
        const Batch half{at::zeros({4, 16}), at::zeros({4}, at::kLong)};
        const auto scores = [&](const Batch& batch, const PassPlace& place) {
            return model->answer(batch, leaves, place).scores.detach();
        };

        const auto one = scores(whole, {1, 5, 0, 1});

        const auto two = at::cat({scores(half, {1, 5, 0, 2}), scores(half, {1, 5, 1, 2})});
        QVERIFY(at::allclose(one, two, 1e-6, 1e-6));
        QVERIFY(at::equal(one, scores(whole, {1, 5, 0, 1})));
        QVERIFY(!at::allclose(one, scores(whole, {1, 6, 0, 1}), 1e-6, 1e-6));
        const auto ofFirstTurn = scores(whole, {0, 5, 0, 1}).narrow(0, 8, 8);
        QVERIFY(!at::allclose(one, ofFirstTurn, 1e-6, 1e-6));
    }

    void anInfInOneTurnSkipsThatOptimizerAlone_data()
    {
        QTest::addColumn<int>("turn");
        QTest::addRow("the discriminator's") << 0;
        QTest::addRow("the generator's") << 1;
    }
    void anInfInOneTurnSkipsThatOptimizerAlone()
    {
        QFETCH(int, turn);
        const auto hit = static_cast<std::size_t>(turn);
        RunPlan plan = ganPlan(StrategyKind::Single, 1, PrecisionMode::Fp16Mixed);
        plan.maxSteps = 4;

        const auto run = trained(plan, std::make_unique<Spoiler>(2, hit));

        const auto& report = run.reports[2];
        QVERIFY(report.skipped);
        QCOMPARE(report.skippedSteps, std::int64_t{1});
        QCOMPARE(report.turns[hit].skipped, std::int64_t{1});
        QCOMPARE(report.turns[1 - hit].skipped, std::int64_t{0});
        QCOMPARE(moved(run, 2, "discriminator"), turn != 0);
        QCOMPARE(moved(run, 2, "generator"), turn != 1);
        QCOMPARE(*report.lossScale, 1024.0);
        QCOMPARE(*report.lossScaleAfter, 512.0);
        QCOMPARE(*report.growthTracker, std::int64_t{4}); // Two optimizer steps in each of two steps before.
        QCOMPARE(*report.growthTrackerAfter, std::int64_t{turn == 0 ? 1 : 0});
        QCOMPARE(report.optimizerSteps, 5.0);
        QVERIFY(!run.reports[3].skipped);
        QVERIFY(moved(run, 3, "discriminator") && moved(run, 3, "generator"));
    }

    void aPassThatIsLeftOutSkipsItsStepAlone()
    {
        RunPlan plan = ganPlan(StrategyKind::Single, 1);
        plan.maxSteps = 3;

        const auto run = trained(plan, std::make_unique<Refuser>(1, 1));

        QVERIFY(run.reports[1].skipped && !run.reports[1].leftOut);
        QVERIFY(run.reports[1].turns[1].leftOut);
        QVERIFY(moved(run, 1, "discriminator"));
        QVERIFY(!moved(run, 1, "generator"));
    }

    void theDiscriminatorMayStepMoreOften()
    {
        RunPlan plan = withDiscriminatorSteps(ganPlan(StrategyKind::Single, 1), 3);
        plan.maxSteps = 7; // 20 batches an epoch: the last window has two.

        const auto run = trained(plan);

        QCOMPARE(run.reports[0].batches, (std::vector<std::int64_t>{0, 1, 2}));
        QCOMPARE(run.reports[0].losses.size(), std::size_t{4});
        QCOMPARE(run.reports[0].optimizerSteps, 4.0);
        QCOMPARE(run.reports[0].samples, std::int64_t{96});
        QCOMPARE(run.reports[6].batches, (std::vector<std::int64_t>{18, 19}));
        QCOMPARE(run.reports[6].losses.size(), std::size_t{3});
        QVERIFY(run.reports[6].endsEpoch);
    }

    void whatIsRecordedIsTheSumAndTheParts()
    {
        RunPlan plan = withDiscriminatorSteps(ganPlan(StrategyKind::Single, 1), 2);
        plan.maxSteps = 2;

        const auto report = trained(plan).reports[1];

        QCOMPARE(report.turns[0].loss, (report.losses[0] + report.losses[1]) / 2.0);
        QCOMPARE(report.turns[1].loss, report.losses[2]);
        QCOMPARE(report.loss, report.turns[0].loss + report.turns[1].loss);
        const double squares =
            2.0 * std::pow(report.turns[0].gradNorm, 2) + std::pow(report.turns[1].gradNorm, 2);
        QVERIFY(std::abs(report.gradNorm - std::sqrt(squares)) < 1e-12 * report.gradNorm);
        QVERIFY(report.accuracy > 0.0 && report.accuracy <= 1.0);
        QVERIFY(report.updateRatio > 0.0);
        const StepSeries series(plan);
        const auto samples = series.samples(report, 0, 0.0);
        const auto valueOf = [&](const std::string& name) {
            for (const auto& sample : samples)
                if (series.catalogue()[static_cast<std::size_t>(sample.series)].name == name)
                    return sample.value;
            return std::nan("");
        };
        QCOMPARE(valueOf("loss_d"), report.turns[0].loss);
        QCOMPARE(valueOf("loss_g"), report.turns[1].loss);
        QCOMPARE(valueOf("grad_norm_d"), report.turns[0].gradNorm);
        QCOMPARE(valueOf("grad_norm_g"), report.turns[1].gradNorm);
    }

    // 16-true is left out: Adam's eps of 1e-8 is 0 in fp16, here as anywhere.
    void itTrainsInEveryPrecisionThatAdamDoes_data()
    {
        QTest::addColumn<int>("precision");
        for (const auto precision :
             {PrecisionMode::Fp32True, PrecisionMode::Bf16True, PrecisionMode::Fp16Mixed,
              PrecisionMode::Bf16Mixed, PrecisionMode::Fp64True})
            QTest::addRow("%s", std::string(precisionId(precision)).c_str()) << static_cast<int>(precision);
    }
    void itTrainsInEveryPrecisionThatAdamDoes()
    {
        QFETCH(int, precision);
        RunPlan plan = ganPlan(StrategyKind::Single, 1, static_cast<PrecisionMode>(precision));
        plan.maxSteps = 5;

        const auto run = trained(plan);

        for (const auto& report : run.reports)
            QVERIFY(std::isfinite(report.loss) && report.loss > 0.0);
        QVERIFY(moved(run, 4, "discriminator") && moved(run, 4, "generator"));
    }

    void gradientsOfBothNetworksAreCaptured()
    {
        RunPlan plan = withDiscriminatorSteps(ganPlan(StrategyKind::Single, 1), 2);
        plan.maxSteps = 1;
        plan.callbacks = {HistogramPlan{1, false, true, false}};

        const auto report = trained(plan).reports[0];

        QCOMPARE(report.histograms.size(), std::size_t{12});
        for (const auto& histogram : report.histograms)
            QVERIFY2(histogram.exponents.total() > histogram.exponents.zeros, histogram.tensor.c_str());
    }
};

QTEST_GUILESS_MAIN(TestTurns)
#include "tst_turns.moc"
