#include "tests/support/scripted_service.h"
#include "ui/bridge/engine_loader.h"
#include "ui/bridge/run_launcher.h"
#include "ui/bridge/window_gap_meter.h"

#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

using namespace mantissa;
using namespace mantissa::ui;
using mantissa::test::RunScript;
using mantissa::test::ScriptedService;

namespace {

EngineLoader::Load scripted(const RunScript& script)
{
    return [script]() -> Result<std::unique_ptr<TrainingService>> {
        return std::unique_ptr<TrainingService>(new ScriptedService(script));
    };
}

RunRequest requestIn(const QTemporaryDir& folder)
{
    RunRequest request;
    request.name = "scripted";
    request.history = folder.path().toStdString();
    return request;
}

} // namespace

class TestRunBridge : public QObject {
    Q_OBJECT

private slots:
    void everySampleArrivesBeforeTheEnd()
    {
        const QTemporaryDir folder;
        RunScript script;
        script.steps = 300;
        EngineLoader engine(scripted(script));
        RunLauncher launcher(engine);
        std::size_t samples = 0;
        std::size_t samplesAtEnd = 0;
        RunState last = RunState::Queued;
        connect(&launcher, &RunLauncher::samplesArrived, this,
                [&](const std::vector<Sample>& arrived) { samples += arrived.size(); });
        connect(&launcher, &RunLauncher::stateChanged, this, [&](const RunStateEvent& event) {
            last = event.state;
            if (hasEnded(event.state))
                samplesAtEnd = samples;
        });

        launcher.start(requestIn(folder));

        QTRY_COMPARE_WITH_TIMEOUT(last, RunState::Finished, 10'000);
        QCOMPARE(samplesAtEnd, 300 * test::scriptedSeries().size());
        QCOMPARE(samples, samplesAtEnd);
    }

    void anEndIsToldOnce()
    {
        const QTemporaryDir folder;
        RunScript script;
        script.steps = 1;
        EngineLoader engine(scripted(script));
        RunLauncher launcher(engine);
        int ends = 0;
        connect(&launcher, &RunLauncher::stateChanged, this,
                [&](const RunStateEvent& event) { ends += hasEnded(event.state) ? 1 : 0; });

        launcher.start(requestIn(folder));

        QTRY_COMPARE_WITH_TIMEOUT(ends, 1, 10'000);
        QTest::qWait(100);
        QCOMPARE(ends, 1);
    }

    void aRunThatFailsBeforeAnybodyListensStillSaysTheWayOut()
    {
        const QTemporaryDir folder;
        RunScript script;
        script.failAt = 0;
        EngineLoader engine(scripted(script));
        RunLauncher launcher(engine);
        RunStateEvent last;
        connect(&launcher, &RunLauncher::stateChanged, this,
                [&](const RunStateEvent& event) { last = event; });

        launcher.start(requestIn(folder));

        QTRY_COMPARE_WITH_TIMEOUT(last.state, RunState::Failed, 10'000);
        QCOMPARE(last.message, script.failure);
        QCOMPARE(last.hint, script.failureHint);
    }

    void anEngineThatIsMissingIsExplained()
    {
        const QTemporaryDir folder;
        EngineLoader engine([]() -> Result<std::unique_ptr<TrainingService>> {
            return Error{ErrorCode::NotHere, "LibTorch is missing.", "Run packaging/run."};
        });
        RunLauncher launcher(engine);
        Error told;
        connect(&launcher, &RunLauncher::refused, this, [&](const Error& error) { told = error; });

        launcher.start(requestIn(folder));

        QTRY_COMPARE_WITH_TIMEOUT(QString::fromStdString(told.message),
                                  QStringLiteral("LibTorch is missing."), 10'000);
        QVERIFY(!launcher.isBusy());
    }

    void oneRunFollowsAnother()
    {
        const QTemporaryDir folder;
        RunScript script;
        script.steps = 20;
        EngineLoader engine(scripted(script));
        RunLauncher launcher(engine);
        QStringList ids;
        connect(&launcher, &RunLauncher::stateChanged, this, [&](const RunStateEvent& event) {
            if (event.state == RunState::Finished)
                ids << QString::fromStdString(launcher.run()->id());
        });

        launcher.start(requestIn(folder));
        QTRY_COMPARE_WITH_TIMEOUT(ids.size(), 1, 10'000);
        launcher.start(requestIn(folder));
        QTRY_COMPARE_WITH_TIMEOUT(ids.size(), 2, 10'000);

        QVERIFY(ids.first() != ids.last());
    }

    void mayBeDestroyedWhileTheRunGoesOn()
    {
        const QTemporaryDir folder;
        RunScript script;
        script.steps = 1'000'000;
        script.perStep = std::chrono::milliseconds(1);
        EngineLoader engine(scripted(script));
        {
            RunLauncher launcher(engine);
            QSignalSpy arrived(&launcher, &RunLauncher::started);
            launcher.start(requestIn(folder));
            QTRY_COMPARE_WITH_TIMEOUT(arrived.count(), 1, 10'000);
            QTest::qWait(50);
        }
        QCoreApplication::processEvents();
    }

    void aStopThatIsAskedForWhileStartingIsKept()
    {
        const QTemporaryDir folder;
        RunScript script;
        script.steps = 1'000'000;
        script.perStep = std::chrono::milliseconds(1);
        EngineLoader engine(scripted(script));
        RunLauncher launcher(engine);
        RunState last = RunState::Queued;
        connect(&launcher, &RunLauncher::stateChanged, this,
                [&](const RunStateEvent& event) { last = event.state; });

        launcher.start(requestIn(folder));
        launcher.stop();

        QTRY_COMPARE_WITH_TIMEOUT(last, RunState::Stopped, 10'000);
    }

    void theGapMeterSeesABlockedLoop()
    {
        WindowGapMeter meter;
        QTest::qWait(50);
        meter.restart();
        QTimer::singleShot(10, this, [] { QTest::qSleep(80); });
        QTest::qWait(150);
        QVERIFY(meter.longestMs() >= 70.0);
    }
};

QTEST_GUILESS_MAIN(TestRunBridge)
#include "tst_run_bridge.moc"
