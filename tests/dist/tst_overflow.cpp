#include "engine/checkpoint/safetensors.h"
#include "engine/history/run_reader.h"
#include "tests/support/real_runs.h"

#include <QtTest>

using namespace mantissa;
using namespace std::chrono_literals;

namespace {

constexpr std::int64_t kStep = 5;

void strategies()
{
    QTest::addColumn<int>("strategy");
    QTest::addColumn<int>("impl");
    QTest::addColumn<bool>("afterBackward");
    for (const auto strategy : {StrategyKind::Ddp, StrategyKind::Fsdp}) {
        const char* name = strategy == StrategyKind::Ddp ? "ddp" : "fsdp";
        for (const auto impl : {OptimizerImpl::Foreach, OptimizerImpl::Fused}) {
            const char* arithmetic = impl == OptimizerImpl::Fused ? "fused" : "foreach";
            QTest::addRow("%s, %s, in the loss", name, arithmetic)
                << static_cast<int>(strategy) << static_cast<int>(impl) << false;
            QTest::addRow("%s, %s, in a gradient", name, arithmetic)
                << static_cast<int>(strategy) << static_cast<int>(impl) << true;
        }
    }
}

RunPlan overflowing(int strategy, int impl, bool afterBackward)
{
    RunPlan plan = scaledPlan(static_cast<StrategyKind>(strategy), 2);
    plan.optimizer.impl = static_cast<OptimizerImpl>(impl);
    FaultPlan fault;
    fault.step = kStep;
    fault.rank = 1;
    fault.kind = FaultKind::Inf;
    fault.afterBackward = afterBackward;
    plan.faults = {fault};
    plan.maxSteps = 8;
    return plan;
}

} // namespace

class TestOverflow : public QObject {
    Q_OBJECT

private slots:
    void anOverflowOnOneRankIsSeenThereAndSkippedEverywhere_data() { strategies(); }
    void anOverflowOnOneRankIsSeenThereAndSkippedEverywhere()
    {
        QFETCH(const int, strategy);
        QFETCH(const int, impl);
        QFETCH(const bool, afterBackward);
        RealRun real(overflowing(strategy, impl, afterBackward));
        QVERIFY(real.run->wait(30s));
        QVERIFY2(real.run->state() == RunState::Finished, real.run->summary().message.c_str());
        const auto reader = RunReader::open(real.run->folder());
        const auto value = [&](const char* name, int rank, std::int64_t step) {
            const auto points = (*reader)->points({name, "1", rank});
            return points->value.at(static_cast<std::size_t>(step));
        };

        for (std::int64_t step = 0; step < 8; ++step) {
            QCOMPARE(value("nonfinite_before", 0, step), 0.0);
            QCOMPARE(value("nonfinite_before", 1, step) > 0.0, step == kStep);
            if (afterBackward && step == kStep)
                QCOMPARE(value("nonfinite_before", 1, step), 1.0);
            QCOMPARE(value("skipped", -1, step), step == kStep ? 1.0 : 0.0);
            QCOMPARE(value("found_inf", 0, step), step == kStep ? 1.0 : 0.0);
            QCOMPARE(value("found_inf", 1, step), step == kStep ? 1.0 : 0.0);
            QCOMPARE(value("loss_scale", -1, step), step <= kStep ? 1024.0 : 512.0);
        }
        QCOMPARE(real.run->summary().skipped, std::int64_t{1});
    }

    void theOverflowIsToldAsEvents()
    {
        RealRun real(overflowing(static_cast<int>(StrategyKind::Fsdp),
                                 static_cast<int>(OptimizerImpl::Foreach), false));
        QVERIFY(real.run->wait(30s));
        QStringList told;
        const auto events = (*RunReader::open(real.run->folder()))->events();
        for (const auto& event : *events) {
            if (event.step == kStep)
                told << QString("%1 %2 %3")
                            .arg(QString::fromStdString(event.kind), QString::fromStdString(event.stage))
                            .arg(event.rank);
        }

        QVERIFY2(told.contains("nonfinite backward 1"), qPrintable(told.join("; ")));
        QVERIFY2(told.contains("skipped optimizer -1"), qPrintable(told.join("; ")));
        QVERIFY2(told.contains("backoff update_scale -1"), qPrintable(told.join("; ")));
        QVERIFY2(told.filter("injected").size() == 1 && told.filter("injected").front().endsWith(" 1"),
                 qPrintable(told.join("; ")));
        QVERIFY2(!told.contains("nonfinite backward 0"), qPrintable(told.join("; ")));
    }

    void aSkippedStepTouchesNeitherWeightsNorOptimizer_data() { strategies(); }
    void aSkippedStepTouchesNeitherWeightsNorOptimizer()
    {
        QFETCH(const int, strategy);
        QFETCH(const int, impl);
        QFETCH(const bool, afterBackward);
        std::vector<TrainerState> states;
        trainBare(overflowing(strategy, impl, afterBackward),
                  [&states](Trainer& trainer, const StepReport& report, int rank) {
                      if (report.step < kStep - 2)
                          return;
                      auto state = trainer.state();
                      if (rank == 0)
                          states.push_back(std::move(state));
                  });

        const auto& earlier = states[0];
        const auto& before = states[1];
        const auto& after = states[2];
        int compared = 0;
        for (const auto& [name, tensor] : before.tensors) {
            if (!name.starts_with("model.") && !name.starts_with("optimizer."))
                continue;
            ++compared;
            QVERIFY2(at::equal(tensorNamed(after.tensors, name), tensor), name.c_str());
            QVERIFY2(!at::equal(tensorNamed(earlier.tensors, name), tensor), name.c_str());
        }
        QVERIFY(compared >= 18); // six weights, each with two moments
    }
};

QTEST_GUILESS_MAIN(TestOverflow)
#include "tst_overflow.moc"
