#include "engine/checkpoint/checkpoint.h"
#include "engine/checkpoint/safetensors.h"
#include "tests/support/gan_runs.h"
#include "tests/support/stored_bits.h"

#include <QtTest>

using namespace mantissa;
using namespace std::chrono_literals;

namespace {

constexpr std::int64_t kStop = 9; // In the middle of an epoch.
constexpr std::int64_t kEnd = 15;

constexpr std::array kStrategies = {StrategyKind::Single, StrategyKind::Ddp, StrategyKind::Zero1,
                                    StrategyKind::Fsdp, StrategyKind::Fsdp2};
constexpr std::array kNames = {"single", "ddp", "zero1", "fsdp", "fsdp2"};

int ranksOf(StrategyKind strategy)
{
    return strategy == StrategyKind::Single ? 1 : 2;
}

/// Largest difference of a weight, relative to the root mean square of its tensor.
double difference(const TrainerState& a, const TrainerState& b)
{
    double largest = 0.0;
    for (const auto& [name, wanted] : b.tensors) {
        if (!name.starts_with(state_name::kWeight))
            continue;
        const auto scale = wanted.square().mean().sqrt().clamp_min(1e-3);
        largest =
            std::max(largest, ((tensorNamed(a.tensors, name) - wanted).abs() / scale).max().item<double>());
    }
    return largest;
}

QStringList eventsOf(const std::filesystem::path& folder, const std::string& kind)
{
    QStringList messages;
    const auto events = (*RunReader::open(folder))->events();
    for (const auto& event : *events)
        if (event.kind == kind)
            messages << QString::fromStdString(event.message);
    return messages;
}

} // namespace

class TestManual : public QObject {
    Q_OBJECT

private slots:
    void twoRanksTrainAsOne_data()
    {
        QTest::addColumn<int>("strategy");
        QTest::addColumn<bool>("recompute");
        QTest::addColumn<bool>("wholeModel");
        for (std::size_t i = 1; i < kStrategies.size(); ++i)
            QTest::addRow("%s", kNames[i]) << static_cast<int>(kStrategies[i]) << false << false;
        QTest::addRow("ddp, recomputed") << static_cast<int>(StrategyKind::Ddp) << true << false;
        QTest::addRow("fsdp, recomputed") << static_cast<int>(StrategyKind::Fsdp) << true << false;
        QTest::addRow("fsdp, both networks in one unit")
            << static_cast<int>(StrategyKind::Fsdp) << false << true;
    }
    void twoRanksTrainAsOne()
    {
        QFETCH(int, strategy);
        QFETCH(bool, recompute);
        QFETCH(bool, wholeModel);
        RunPlan one = withDiscriminatorSteps(ganPlan(StrategyKind::Single, 1), 2);
        RunPlan two = withDiscriminatorSteps(ganPlan(static_cast<StrategyKind>(strategy), 2), 2);
        one.maxSteps = two.maxSteps = 8;
        two.recompute = recompute;
        if (wholeModel)
            two.shards.wrap = UnitWrap::Whole;
        std::vector<double> ofOne;
        std::vector<double> ofTwo;

        const auto single = trainBare(one, [&](Trainer&, const StepReport& report, int) {
            ofOne.insert(ofOne.end(),
                         {report.turns[0].loss, report.turns[1].loss, report.turns[0].gradNorm,
                          report.turns[1].gradNorm, report.gradNorm, report.loss});
        });
        const auto both = trainBare(two, [&](Trainer&, const StepReport& report, int rank) {
            if (rank == 0)
                ofTwo.insert(ofTwo.end(),
                             {report.turns[0].loss, report.turns[1].loss, report.turns[0].gradNorm,
                              report.turns[1].gradNorm, report.gradNorm, report.loss});
        });

        QVERIFY2(difference(both, single) < 1e-3, std::to_string(difference(both, single)).c_str());
        QCOMPARE(ofTwo.size(), ofOne.size());
        for (std::size_t i = 0; i < ofOne.size(); ++i)
            QVERIFY2(std::abs(ofTwo[i] - ofOne[i]) < 1e-4 * std::max(0.1, ofOne[i]),
                     qPrintable(QString("%1: %2 and %3").arg(i).arg(ofTwo[i]).arg(ofOne[i])));
    }

    void aResumedRunHasTheBitsOfOneThatNeverStopped_data()
    {
        QTest::addColumn<int>("strategy");
        QTest::addColumn<int>("precision");
        QTest::addColumn<bool>("sharded");
        for (std::size_t i = 0; i < kStrategies.size(); ++i)
            for (const auto precision :
                 {PrecisionMode::Fp32True, PrecisionMode::Fp16Mixed, PrecisionMode::Bf16Mixed})
                QTest::addRow("%s, %s", kNames[i], std::string(precisionId(precision)).c_str())
                    << static_cast<int>(kStrategies[i]) << static_cast<int>(precision) << false;
        QTest::addRow("fsdp, 16-mixed, in shards")
            << static_cast<int>(StrategyKind::Fsdp) << static_cast<int>(PrecisionMode::Fp16Mixed) << true;
    }
    void aResumedRunHasTheBitsOfOneThatNeverStopped()
    {
        QFETCH(int, strategy);
        QFETCH(int, precision);
        QFETCH(bool, sharded);
        const auto kind = static_cast<StrategyKind>(strategy);
        auto plan =
            withDiscriminatorSteps(ganPlan(kind, ranksOf(kind), static_cast<PrecisionMode>(precision)), 2);
        plan.scaler.growthInterval = 7;
        plan.maxSteps = kEnd;
        plan.checkpoints.sharded = sharded;
        if (plan.scaler.enabled)
            plan.faults = {{4, 0, FaultKind::Inf, 0.0, -1, true}, {12, plan.ranks - 1, FaultKind::Inf}};
        RealRun whole(plan);
        QVERIFY(whole.run->wait(60s));
        QVERIFY2(whole.run->state() == RunState::Finished, whole.run->summary().message.c_str());
        auto half = plan;
        half.maxSteps = kStop;
        RealRun first(half);
        QVERIFY(first.run->wait(60s));

        RealRun second(plan, {}, first.end());

        QVERIFY(second.run->wait(60s));
        QVERIFY2(second.run->state() == RunState::Finished, second.run->summary().message.c_str());
        QCOMPARE(eventsOf(second.run->folder(), "not_carried"), QStringList());
        const auto bits = deterministicBits(whole.run->folder());
        const auto again = deterministicBits(second.run->folder());
        QCOMPARE(again.at({"loss_g", -1}).size(), static_cast<std::size_t>(kEnd - kStop));
        QCOMPARE(firstDifference(bits, again, kStop), QString());
        const auto a = readCheckpoint(whole.end().checkpoint);
        const auto b = readCheckpoint(second.end().checkpoint);
        QVERIFY(a && b);
        QCOMPARE(a->json, b->json);
        QCOMPARE(a->tensors.size(), b->tensors.size());
        for (const auto& [name, tensor] : a->tensors)
            QVERIFY2(at::equal(tensorNamed(b->tensors, name), tensor), name.c_str());
    }

    void anOverflowOfOneRankIsCountedForEachOptimizerStep()
    {
        auto plan = ganPlan(StrategyKind::Fsdp, 2, PrecisionMode::Fp16Mixed);
        plan.maxSteps = 5;
        plan.faults = {{1, 1, FaultKind::Inf, 0.0, -1, true}, {3, 0, FaultKind::Inf}};

        RealRun run(plan);

        QVERIFY(run.run->wait(60s));
        QCOMPARE(run.run->summary().skipped, std::int64_t{3});
        const auto skips = eventsOf(run.run->folder(), "skipped");
        QCOMPARE(skips.size(), 3);
        QVERIFY(skips[0].startsWith("A step of the discriminator"));
        QVERIFY(skips[2].startsWith("A step of the generator"));
        const auto points = (*RunReader::open(run.run->folder()))->points({"skipped", "1"});
        QCOMPARE(points->value, (std::vector<double>{0.0, 1.0, 0.0, 2.0, 0.0}));
    }
};

QTEST_GUILESS_MAIN(TestManual)
#include "tst_manual.moc"
