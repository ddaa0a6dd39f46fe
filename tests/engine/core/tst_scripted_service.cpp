#include "engine/history/run_reader.h"
#include "tests/support/scripted_service.h"

#include <QTemporaryDir>
#include <QTest>

#include <cmath>

using namespace mantissa;
using namespace mantissa::test;
using namespace std::chrono_literals;

namespace {

RunRequest requestIn(const QTemporaryDir& history)
{
    RunRequest request;
    request.name = "scripted";
    request.setupText = "seed_everything: 1\n";
    request.history = history.path().toStdString();
    return request;
}

double valueAt(const RunScript& script, std::int64_t step, const char* name)
{
    const auto series = scriptedSeries();
    for (const auto& sample : scriptedSamples(script, step))
        if (series[static_cast<std::size_t>(sample.series)].name == name)
            return sample.value;
    return -1.0;
}

} // namespace

class TestScriptedService : public QObject {
    Q_OBJECT

private slots:
    void aRunIsPlayedToItsEndAndStored()
    {
        QTemporaryDir history;
        ScriptedService service;
        auto run = service.start(requestIn(history));
        QVERIFY(run);

        QVERIFY((*run)->wait(10s));

        const auto summary = (*run)->summary();
        QCOMPARE(summary.state, RunState::Finished);
        QCOMPARE(summary.steps, std::int64_t{120});
        QCOMPARE(summary.skipped, std::int64_t{2});
        QVERIFY(summary.final.contains("loss"));
        const auto rows = *listRuns(history.path().toStdString());
        QCOMPARE(rows.size(), std::size_t{1});
        QCOMPARE(rows[0].state, RunState::Finished);
        QCOMPARE(rows[0].steps, std::int64_t{120});
        QCOMPARE((*run)->takeEvents().size(), std::size_t{3}); // Two skips and a checkpoint.
    }

    void theScaleFollowsTheScalersRules()
    {
        const RunScript script;

        QCOMPARE(valueAt(script, 19, "loss_scale"), 65536.0);
        QCOMPARE(valueAt(script, 20, "loss_scale"), 32768.0);
        QVERIFY(std::isinf(valueAt(script, 20, "grad_norm")));
        QCOMPARE(valueAt(script, 45, "loss_scale"), 16384.0);
        QCOMPARE(valueAt(script, 104, "loss_scale"), 16384.0);
        QCOMPARE(valueAt(script, 105, "loss_scale"), 32768.0);
    }

    void aRunPausesGoesOnAndStopsWithACheckpoint()
    {
        QTemporaryDir history;
        RunScript script;
        script.steps = 100'000;
        script.perStep = 1ms;
        ScriptedService service(script);
        auto run = std::move(*service.start(requestIn(history)));
        std::vector<RunState> seen;
        const auto states =
            run->onStateChanged([&](const RunStateEvent& event) { seen.push_back(event.state); });

        QTRY_VERIFY(run->progress().step > 3);
        run->pause();
        QTRY_COMPARE(run->state(), RunState::Paused);
        const auto paused = run->progress().step;
        QTest::qWait(30);
        QCOMPARE(run->progress().step, paused);
        run->resume();
        QTRY_VERIFY(run->progress().step > paused);
        run->stop();
        QVERIFY(run->wait(5s));

        QCOMPARE(run->state(), RunState::Stopped);
        QCOMPARE(seen.back(), RunState::Stopped);
        const auto reader = RunReader::open(run->folder());
        QCOMPARE((*reader)->checkpoints()->size(), std::size_t{1});
    }

    void aFailureSaysWhereAndWhy()
    {
        QTemporaryDir history;
        RunScript script;
        script.failAt = 5;
        ScriptedService service(script);
        auto run = std::move(*service.start(requestIn(history)));

        QVERIFY(run->wait(5s));

        QCOMPARE(run->state(), RunState::Failed);
        QCOMPARE(run->summary().message, script.failure);
        QCOMPARE(run->summary().steps, std::int64_t{5});
    }
};

QTEST_GUILESS_MAIN(TestScriptedService)
#include "tst_scripted_service.moc"
