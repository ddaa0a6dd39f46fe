#include "engine/history/replay_check.h"
#include "engine/train/parameter_hash.h"
#include "tests/support/real_runs.h"

#include <nlohmann/json.hpp>

#include <QtTest>

using namespace mantissa;
using namespace std::chrono_literals;

namespace {

constexpr std::int64_t kEvent = 13;

/// With what `mantissa.rewind_every: 5` asks for.
RunPlan planWith(StrategyKind strategy, const FaultPlan& fault)
{
    RunPlan plan = scaledPlan(strategy, 2);
    plan.maxSteps = 16;
    plan.hashParameters = true;
    plan.checkpoints.everySteps = 5;
    plan.checkpoints.keepLast = -1;
    plan.faults = {fault};
    for (const std::int64_t step : {6, 11}) // Time to write them.
        plan.faults.push_back({step, 0, FaultKind::Stall, 0.2});
    return plan;
}

ResumePoint after(const RealRun& real, std::int64_t steps)
{
    const auto records = (*RunReader::open(real.run->folder()))->checkpoints();
    for (const auto& record : *records)
        if (record.step + 1 == steps)
            return {real.run->folder() / record.path, real.run->id(), record.step};
    return {};
}

RunPlan replayOf(RunPlan plan)
{
    plan.maxSteps = kEvent + 1;
    plan.probeFrom = kEvent - 2;
    plan.checkpoints = {};
    plan.checkpoints.atEnd = false;
    return plan;
}

std::vector<RunEvent> eventsOfKind(const RealRun& real, const std::string& kind)
{
    std::vector<RunEvent> found;
    const auto events = (*RunReader::open(real.run->folder()))->events();
    for (const auto& event : *events)
        if (event.kind == kind)
            found.push_back(event);
    return found;
}

} // namespace

class TestRewind : public QObject {
    Q_OBJECT

private slots:
    void aReplayIsTheSameRunAndFindsWhereItBegan_data()
    {
        QTest::addColumn<int>("strategy");
        QTest::addColumn<bool>("inGradient");
        for (const auto strategy : {StrategyKind::Ddp, StrategyKind::Fsdp}) {
            const char* name = strategy == StrategyKind::Ddp ? "ddp" : "fsdp";
            QTest::addRow("%s, in the loss", name) << static_cast<int>(strategy) << false;
            QTest::addRow("%s, in a gradient", name) << static_cast<int>(strategy) << true;
        }
    }
    void aReplayIsTheSameRunAndFindsWhereItBegan()
    {
        QFETCH(const int, strategy);
        QFETCH(const bool, inGradient);
        FaultPlan fault{kEvent, 1, FaultKind::Inf};
        fault.afterBackward = inGradient;
        const auto plan = planWith(static_cast<StrategyKind>(strategy), fault);
        RealRun first(plan);
        QVERIFY(first.run->wait(30s));
        QVERIFY(first.run->summary().skipped == 1);

        RealRun replay(replayOf(plan), {}, after(first, 10));

        QVERIFY(replay.run->wait(30s));
        QVERIFY2(replay.run->state() == RunState::Finished, replay.run->summary().message.c_str());
        const auto report = checkReplay(first.run->folder(), replay.run->folder());
        QVERIFY2(report, report ? "" : report.error().message.c_str());
        QVERIFY2(!report->differsFrom, report->series.c_str());
        QVERIFY(report->hashed);
        QCOMPARE(report->steps, std::int64_t{4});
        const auto origins = eventsOfKind(replay, "origin");
        QCOMPARE(origins.size(), std::size_t{1});
        const auto detail = nlohmann::json::parse(origins[0].detail);
        QCOMPARE(origins[0].rank, 1);
        QCOMPARE(origins[0].step, kEvent);
        QCOMPARE(detail["batch"].get<std::int64_t>(), kEvent);
        QCOMPARE(detail["quantity"].get<std::string>(), std::string(inGradient ? "weight_gradient" : "loss"));
        QCOMPARE(origins[0].layer, std::string(inGradient ? "fc1" : ""));
        QCOMPARE(eventsOfKind(replay, "layers").size(), std::size_t{2 * 3}); // ranks × steps looked at
    }

    void everyLayerIsReadOnItsWayForthAndBack()
    {
        auto plan = smallPlan(StrategyKind::Single, 1);
        plan.maxSteps = 1;
        plan.probeFrom = 0;
        RealRun real(plan);
        QVERIFY(real.run->wait(20s));

        const auto layers = eventsOfKind(real, "layers");
        QCOMPARE(layers.size(), std::size_t{1});
        QStringList way;
        const auto detail = nlohmann::json::parse(layers[0].detail);
        for (const auto& reading : detail["readings"]) {
            way << QString::fromStdString(reading["layer"].get<std::string>() + " "
                                          + reading["quantity"].get<std::string>());
            QVERIFY(reading["largest"].get<double>() > 0.0);
            QCOMPARE(reading["nonfinite"].get<int>(), 0);
        }

        QCOMPARE(way.mid(0, 4), (QStringList{"fc1 output", "fc2 output", "fc3 output", " loss"}));
        QCOMPARE(way.size(), 4 + 3 + 6); // gradients of three outputs, of three weights and three biases
        QVERIFY(way.indexOf("fc3 output_gradient") < way.indexOf("fc1 weight_gradient"));
        QVERIFY(eventsOfKind(real, "origin").empty());
    }

    void lookingChangesNoBit()
    {
        auto plan = scaledPlan(StrategyKind::Fsdp, 2);
        plan.maxSteps = 6;
        plan.hashParameters = true;
        RealRun plain(plan);
        QVERIFY(plain.run->wait(20s));
        plan.probeFrom = 0;

        RealRun looked(plan);

        QVERIFY(looked.run->wait(20s));
        const auto report = checkReplay(plain.run->folder(), looked.run->folder());
        QVERIFY(report && !report->differsFrom);
    }

    void aReplayThatGoesAnotherWaySaysFromWhere()
    {
        const auto plan = planWith(StrategyKind::Ddp, {kEvent, 1, FaultKind::Inf});
        RealRun first(plan);
        QVERIFY(first.run->wait(30s));
        auto other = replayOf(plan);
        other.faults.push_back({11, 0, FaultKind::Spike, 3.0});

        RealRun replay(other, {}, after(first, 10));

        QVERIFY(replay.run->wait(30s));
        const auto report = checkReplay(first.run->folder(), replay.run->folder());
        QVERIFY(report);
        QVERIFY(report->differsFrom);
        QCOMPARE(*report->differsFrom, std::int64_t{11});
    }

    void oneBitMakesAnotherHash()
    {
        const at::Tensor a = at::arange(37, at::kFloat);
        at::Tensor b = a.clone();
        QCOMPARE(parameterHash({a}), parameterHash({b}));

        b[36] = std::nextafter(36.0F, 40.0F);

        QVERIFY(parameterHash({a}) != parameterHash({b}));
        QVERIFY(parameterHash({a, b}) != parameterHash({b, a}));
        QVERIFY(parameterHash({a}) < 4503599627370496.0);
    }
};

QTEST_GUILESS_MAIN(TestRewind)
#include "tst_rewind.moc"
