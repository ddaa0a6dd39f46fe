#include "engine/comm/thread_group.h"
#include "engine/train/trainer.h"
#include "engine/train/trainer_state.h"

#include <nlohmann/json.hpp>

#include <QTest>

#include <thread>

using namespace mantissa;

namespace {

RunPlan planOf(PrecisionMode precision, StrategyKind strategy, int ranks)
{
    RunPlan plan;
    plan.precision = precision;
    plan.strategy = strategy;
    plan.ranks = ranks;
    plan.model = MlpPlan{16, 24, 4, 3};
    plan.data = SyntheticPlan{"vectors", 16, 4, 64};
    plan.batchSize = 8;
    plan.maxEpochs = 2;
    plan.optimizer.learningRate = 0.01;
    plan.scaler.enabled = precision == PrecisionMode::Fp16Mixed;
    plan.scaler.initScale = 1024.0;
    return plan;
}

struct RankRun {
    std::vector<StepReport> reports;
    std::string refused; ///< Kind of the refused call.
    std::string failed;
    TrainerPlace place;
    TrainerState state;
};

/// Trains to the end, or to the first failure, on threads of its own.
std::vector<RankRun> trained(const RunPlan& plan, bool keepState = false)
{
    auto prepared = prepareRun(plan);
    ThreadGroup group(plan.ranks, std::chrono::seconds(30));
    std::vector<RankRun> runs(static_cast<std::size_t>(plan.ranks));
    const auto rank = [&](int number) {
        RankRun& run = runs[static_cast<std::size_t>(number)];
        const auto communicator = group.communicator(number);
        Trainer trainer(*prepared, *communicator);
        try {
            while (!trainer.finished())
                run.reports.push_back(trainer.step());
            if (keepState)
                run.state = trainer.state();
        } catch (const RefusedCall& refusal) {
            run.refused = refusal.kind;
        } catch (const std::exception& error) {
            run.failed = error.what();
            group.abort(error.what());
        }
        run.place = trainer.place();
    };
    {
        std::vector<std::jthread> others;
        for (int number = 1; number < plan.ranks; ++number)
            others.emplace_back(rank, number);
        rank(0);
    }
    return runs;
}

std::string trailOf(const StepReport& report)
{
    std::string trail;
    for (const Stage stage : report.stages)
        trail += (trail.empty() ? "" : " ") + std::string(stageId(stage));
    return trail;
}

} // namespace

class TestTrainer : public QObject {
    Q_OBJECT

private slots:
    void anOverflowOnOneRankSkipsTheStepOnAll_data()
    {
        QTest::addColumn<int>("strategy");
        QTest::addColumn<int>("impl");
        for (const auto strategy : {StrategyKind::Ddp, StrategyKind::Fsdp}) {
            for (const auto impl : {OptimizerImpl::Foreach, OptimizerImpl::Fused})
                QTest::addRow("%d %d", int(strategy), int(impl)) << int(strategy) << int(impl);
        }
    }
    void anOverflowOnOneRankSkipsTheStepOnAll()
    {
        QFETCH(int, strategy);
        QFETCH(int, impl);
        RunPlan plan = planOf(PrecisionMode::Fp16Mixed, static_cast<StrategyKind>(strategy), 2);
        plan.optimizer.impl = static_cast<OptimizerImpl>(impl);
        plan.faults = {{2, 1, FaultKind::Inf, 0.0, -1, false}};

        const auto runs = trained(plan);

        QCOMPARE(runs[0].failed + runs[1].failed, std::string());
        const StepReport& spared = runs[0].reports[2];
        const StepReport& hit = runs[1].reports[2];
        QCOMPARE(spared.nonfiniteBefore, std::int64_t{0});
        QVERIFY(hit.nonfiniteBefore > 0);
        QCOMPARE(hit.notes.size(), std::size_t{1});
        for (const auto* report : {&spared, &hit}) {
            QVERIFY(report->skipped);
            QVERIFY(!report->parametersChanged);
            QCOMPARE(report->foundInf, 1.0);
            QCOMPARE(*report->lossScale, 1024.0);
            QCOMPARE(*report->lossScaleAfter, 512.0);
            QCOMPARE(report->optimizerSteps, 2.0);
        }
        QVERIFY(!runs[0].reports[3].skipped);
        QVERIFY(runs[0].reports[3].parametersChanged);
    }

    void aFaithfulRunIsRefusedWhereTheTargetRefuses_data()
    {
        QTest::addColumn<QString>("framework");
        QTest::addColumn<int>("strategy");
        QTest::addColumn<int>("precision");
        QTest::addColumn<int>("clip");
        QTest::addColumn<QString>("kind");
        QTest::addColumn<int>("stage");
        const int fsdp = int(StrategyKind::Fsdp);
        const int single = int(StrategyKind::Single);
        const int fp16 = int(PrecisionMode::Fp16Mixed);
        const int bf16 = int(PrecisionMode::Bf16Mixed);
        const int norm = int(ClipKind::Norm);
        const int value = int(ClipKind::Value);
        QTest::newRow("Fabric, FSDP")
            << "fabric" << fsdp << fp16 << norm << "NotImplementedError" << int(Stage::Unscale);
        QTest::newRow("Fabric, plain")
            << "fabric" << single << fp16 << value << "NotImplementedError" << int(Stage::Unscale);
        QTest::newRow("Trainer, FSDP norm")
            << "trainer" << fsdp << fp16 << norm << "MisconfigurationException" << int(Stage::Clip);
        QTest::newRow("Trainer, 16-mixed")
            << "trainer" << single << fp16 << norm << "RuntimeError" << int(Stage::Clip);
        QTest::newRow("Trainer, bf16-mixed")
            << "trainer" << single << bf16 << value << "RuntimeError" << int(Stage::Clip);
        QTest::newRow("Fabric, bf16-mixed") << "fabric" << single << bf16 << norm << "" << int(Stage::Record);
    }
    void aFaithfulRunIsRefusedWhereTheTargetRefuses()
    {
        QFETCH(QString, framework);
        QFETCH(int, strategy);
        QFETCH(int, precision);
        QFETCH(int, clip);
        QFETCH(QString, kind);
        QFETCH(int, stage);
        const auto sharded = static_cast<StrategyKind>(strategy);
        RunPlan plan =
            planOf(static_cast<PrecisionMode>(precision), sharded, sharded == StrategyKind::Single ? 1 : 2);
        plan.framework = framework.toStdString();
        plan.optimizer.impl = OptimizerImpl::Fused;
        plan.clip = {static_cast<ClipKind>(clip), 0.5, 2.0};

        plan.mode = RunMode::Faithful;
        const auto faithful = trained(plan);
        plan.mode = RunMode::Extended;
        const auto extended = trained(plan);

        for (const auto& run : faithful) {
            QCOMPARE(QString::fromStdString(run.refused), kind);
            QCOMPARE(int(run.place.stage), stage);
        }
        QVERIFY(extended[0].refused.empty() && extended[0].failed.empty());
        QVERIFY(!extended[0].reports.empty());
    }

    void theStagesOfAStepAreRecordedInOrder()
    {
        RunPlan plan = planOf(PrecisionMode::Fp16Mixed, StrategyKind::Ddp, 2);
        plan.accumulate = {{0, 2}};
        plan.clip = {ClipKind::Norm, 1.0, 2.0};

        const auto runs = trained(plan);

        const std::string micro = "data convert_input forward loss scale backward ";
        QCOMPARE(trailOf(runs[0].reports[0]),
                 micro + micro + "reduce unscale clip optimizer update_scale record");
    }

    void stagesThatASetupLacksAreNotVisited()
    {
        const auto runs = trained(planOf(PrecisionMode::Fp32True, StrategyKind::Single, 1));

        QCOMPARE(trailOf(runs[0].reports[0]),
                 std::string("data convert_input forward loss backward optimizer record"));
    }

    void windowsEndWithTheEpoch()
    {
        RunPlan plan = planOf(PrecisionMode::Fp32True, StrategyKind::Single, 1);
        plan.accumulate = {{0, 3}, {1, 1}}; // 8 batches an epoch.

        const auto runs = trained(plan);
        const auto& reports = runs[0].reports;

        QCOMPARE(reports.size(), std::size_t{3 + 8});
        QCOMPARE(reports[2].batches, (std::vector<std::int64_t>{6, 7}));
        QVERIFY(reports[2].endsEpoch);
        QVERIFY(!reports[1].endsEpoch);
        QCOMPARE(totalSteps(**prepareRun(plan)), std::int64_t{11});
    }

    void twoRunsOfOnePlanAreTheSameBits()
    {
        RunPlan plan = planOf(PrecisionMode::Bf16Mixed, StrategyKind::Fsdp, 2);
        plan.clip = {ClipKind::Norm, 0.5, 2.0};

        const auto first = trained(plan);
        const auto second = trained(plan);

        for (std::size_t i = 0; i < first[0].reports.size(); ++i) {
            QVERIFY(first[0].reports[i].loss == second[0].reports[i].loss);
            QVERIFY(first[0].reports[i].gradNorm == second[0].reports[i].gradNorm);
            QVERIFY(first[0].reports[i].paramNorm == second[0].reports[i].paramNorm);
            QVERIFY(first[0].reports[i].updateRatio == second[0].reports[i].updateRatio);
        }
        QVERIFY(first[0].reports.back().loss < first[0].reports.front().loss);
    }

    void shardsAndWholesReportTheSameNorms()
    {
        RunPlan plan = planOf(PrecisionMode::Fp32True, StrategyKind::Ddp, 2);
        const auto whole = trained(plan);
        plan.strategy = StrategyKind::Fsdp;
        const auto sharded = trained(plan);

        for (std::size_t i = 0; i < whole[0].reports.size(); ++i) {
            const StepReport& a = whole[0].reports[i];
            const StepReport& b = sharded[0].reports[i];
            QVERIFY(std::abs(a.gradNorm - b.gradNorm) < 1e-3 * a.gradNorm);
            QVERIFY(!a.paramNorm || std::abs(*a.paramNorm - *b.paramNorm) < 1e-4 * *a.paramNorm);
            QVERIFY(std::abs(a.updateRatio - b.updateRatio) < 1e-2 * a.updateRatio);
        }
    }

    void updatesTooSmallFor16BitsShowAsStalled()
    {
        RunPlan plan = planOf(PrecisionMode::Bf16True, StrategyKind::Single, 1);
        plan.optimizer.kind = OptimizerKind::Sgd;
        plan.optimizer.learningRate = 1e-6;
        const auto half = trained(plan);
        plan.precision = PrecisionMode::Fp32True;
        plan.optimizer.learningRate = 0.1;
        const auto full = trained(plan);

        QVERIFY(*half[0].reports[0].stalledShare > 0.5);
        QVERIFY(*full[0].reports[0].stalledShare < 0.05);
    }

    void aFailureSaysWhereTheRankWas()
    {
        RunPlan plan = planOf(PrecisionMode::Fp32True, StrategyKind::Ddp, 2);
        plan.faults = {{3, 1, FaultKind::Throw, 0.0, -1, false}};

        const auto runs = trained(plan);

        QVERIFY(!runs[0].failed.empty());
        QVERIFY(runs[1].failed.find("made on purpose") != std::string::npos);
        QCOMPARE(runs[1].place.step, std::int64_t{3});
        QCOMPARE(runs[1].place.stage, Stage::Data);
    }

    void theStateHoldsAllThatARunNeeds()
    {
        RunPlan plan = planOf(PrecisionMode::Fp16Mixed, StrategyKind::Fsdp, 2);

        const auto runs = trained(plan, true);
        const auto& state = runs[0].state;

        const auto shapeOf = [&](const std::string& name) {
            for (const auto& [key, tensor] : state.tensors) {
                if (key == name)
                    return tensor.sizes().vec();
            }
            return std::vector<std::int64_t>{};
        };
        QCOMPARE(shapeOf("model.fc1.weight"), (std::vector<std::int64_t>{24, 16}));
        QCOMPARE(shapeOf("optimizer.exp_avg.fc3.bias"), (std::vector<std::int64_t>{4}));
        QVERIFY(runs[1].state.tensors.empty());
        const auto json = nlohmann::json::parse(state.json);
        QCOMPARE(json.at("step").get<int>(), 8);
        QCOMPARE(json.at("epoch").get<int>(), 2);
        QCOMPARE(json.at("scaler").at("_growth_tracker").get<int>(), 8);
    }
};

QTEST_APPLESS_MAIN(TestTrainer)
#include "tst_trainer.moc"
