#include "tests/support/scripted_service.h"
#include "ui/bridge/engine_loader.h"
#include "ui/diagram/stage_item.h"
#include "ui/diagram/step_scene.h"
#include "ui/document/setup_document.h"
#include "ui/pages/navigation.h"
#include "ui/pages/run/failure_view.h"
#include "ui/pages/run/run_page.h"
#include "ui/pages/run/status_box.h"
#include "ui/plot/run_plot.h"
#include "ui/theme/appearance.h"
#include "ui/widgets/action_bar.h"
#include "ui/widgets/pill_label.h"

#include <QPushButton>
#include <QSignalSpy>
#include <QStandardPaths>
#include <QTableView>
#include <QTemporaryDir>
#include <QTest>

#include <cmath>

using namespace mantissa;
using namespace mantissa::ui;
using mantissa::test::RunScript;
using mantissa::test::ScriptedService;

namespace {

/// A run page with a scripted engine under it.
struct Bench {
    explicit Bench(RunScript script)
        : engine([script]() -> Result<std::unique_ptr<TrainingService>> {
              return std::unique_ptr<TrainingService>(new ScriptedService(script));
          }),
          page({document, engine, navigation, appearance, folder.path().toStdString()})
    {
        page.resize(1208, 668);
        page.show();
    }

    void start()
    {
        RunRequest request;
        request.name = "scripted";
        request.history = folder.path().toStdString();
        request.setupText = "model:\n  class_path: mantissa.MLP\n";
        request.plan.ranks = 2;
        request.plan.scaler.enabled = true;
        request.plan.clip = {ClipKind::Norm, 1.0, 2.0};
        emit navigation.runAsked(request);
    }

    QString pill() const { return page.findChild<PillLabel*>()->text(); }
    bool endsWith(RunState state)
    {
        return QTest::qWaitFor(
                   [&] {
                       return page.launcher().run() && page.launcher().run()->state() == state
                           && page.launcher().settled();
                   },
                   10'000)
            && QTest::qWaitFor(
                   [&] {
                       return !pill().isEmpty() && pill() != QStringLiteral("Running")
                           && pill() != QStringLiteral("Starting");
                   },
                   5'000);
    }

    QTemporaryDir folder;
    Appearance appearance;
    SetupDocument document;
    Navigation navigation;
    EngineLoader engine;
    RunPage page;
};

RunScript longScript()
{
    RunScript script;
    script.steps = 1'000'000;
    script.perStep = std::chrono::milliseconds(1);
    return script;
}

} // namespace

class TestRunPage : public QObject {
    Q_OBJECT

private slots:
    void initTestCase() { QStandardPaths::setTestModeEnabled(true); }

    void everyPointIsOnThePlotWhenTheRunHasEnded()
    {
        RunScript script;
        script.steps = 500;
        Bench bench(script);

        bench.start();

        QVERIFY(bench.endsWith(RunState::Finished));
        const auto& series = bench.page.plot().series();
        QCOMPARE(series.columns().size(), test::scriptedSeries().size());
        for (const auto& column : series.columns())
            QCOMPARE(column.size(), std::size_t{500});
        QCOMPARE(bench.pill(), QStringLiteral("Finished"));
    }

    void skippedStepsKeepTheirInf()
    {
        RunScript script;
        script.steps = 60;
        Bench bench(script);

        bench.start();

        QVERIFY(bench.endsWith(RunState::Finished));
        const auto* norm = bench.page.plot().series().find("grad_norm");
        QVERIFY(norm);
        QCOMPARE(norm->levels.nonFinite().size(), std::size_t{2});
        QCOMPARE(norm->levels.nonFinite().front().step, std::int64_t{20});
        QVERIFY(std::isinf(norm->levels.nonFinite().front().value));
    }

    void aFailureSaysWhatAndWhatToDo()
    {
        RunScript script;
        script.failAt = 30;
        Bench bench(script);

        bench.start();

        QVERIFY(bench.endsWith(RunState::Failed));
        QTRY_COMPARE(bench.pill(), QStringLiteral("Failed at step 30"));
        const auto bars = bench.page.findChildren<ActionBar*>();
        QVERIFY(std::any_of(bars.begin(), bars.end(), [](const ActionBar* bar) {
            return bar->isVisible() && bar->title().contains(QStringLiteral("out of memory"))
                && bar->detail().contains(QStringLiteral("29"));
        }));
    }

    void aFailureIsShownInTheDiagramWithTheLogAndAWayOn()
    {
        RunScript script;
        script.failAt = 30;
        Bench bench(script);
        QSignalSpy drafts(&bench.navigation, &Navigation::draftAsked);

        bench.start();

        QVERIFY(bench.endsWith(RunState::Failed));
        auto& view = bench.page.failureView();
        QTRY_VERIFY(view.isVisible());
        QCOMPARE(view.place(), QStringLiteral("Rank 1 ended in step 30, at Backward."));
        QCOMPARE(view.scene().stage(Stage::Backward).badge()->words, QStringLiteral("Rank 1 ended"));
        const auto* log = view.findChild<QTableView*>();
        QVERIFY(log->model()->index(0, 3).data().toString().contains(QStringLiteral("out of memory")));
        for (auto* button : bench.page.findChildren<QPushButton*>())
            if (button->isVisible() && button->text() == QStringLiteral("Open as draft"))
                button->click();
        QCOMPARE(drafts.count(), 1);
        QVERIFY(drafts.front().front().toString().contains(QStringLiteral("mantissa.MLP")));
    }

    void aStartThatIsRefusedIsExplainedOnThePage()
    {
        RunScript script;
        script.refusal = Error{ErrorCode::InvalidSetup, "No such data.", "Give a folder."};
        Bench bench(script);

        bench.start();

        QTRY_COMPARE_WITH_TIMEOUT(bench.pill(), QStringLiteral("Did not start"), 10'000);
        QVERIFY(!bench.page.launcher().isBusy());
    }

    void ranksLeftBehindAreRememberedUntilTheEnd()
    {
        RunScript script;
        script.leavesRanks = true;
        Bench bench(script);
        QVERIFY(!bench.page.launcher().leftRanksBehind());
        bench.start();
        QVERIFY(bench.endsWith(RunState::Finished));
        QVERIFY(bench.page.launcher().leftRanksBehind());

        // The next start drops that run; its rank is still there.
        bench.start();
        QVERIFY(bench.page.launcher().isStarting());
        QVERIFY(bench.page.launcher().leftRanksBehind());

        QVERIFY(bench.endsWith(RunState::Finished));
    }

    void aFolderThatIsDeletedMidRunIsTold()
    {
        Bench bench(longScript());
        bench.start();
        QTRY_COMPARE_WITH_TIMEOUT(bench.pill(), QStringLiteral("Running"), 10'000);
        QVERIFY(bench.page.statusText().contains(QStringLiteral("every step")));

        std::filesystem::remove_all(bench.page.launcher().run()->folder());

        const auto* losses = bench.page.findChild<StatusBox*>(QStringLiteral("losses"));
        QTRY_VERIFY_WITH_TIMEOUT(losses->isVisible(), 5'000);
        QVERIFY(losses->words().detail.contains(QStringLiteral("gone")));
        QVERIFY(!bench.page.statusText().contains(QStringLiteral("every step")));
        QCOMPARE(bench.pill(), QStringLiteral("Running"));
        bench.page.launcher().stop();
        QTRY_COMPARE_WITH_TIMEOUT(bench.pill(), QStringLiteral("Stopped"), 10'000);
    }

    void pauseAndResume()
    {
        Bench bench(longScript());
        bench.start();
        QTRY_COMPARE_WITH_TIMEOUT(bench.pill(), QStringLiteral("Running"), 10'000);

        bench.page.launcher().pause();
        QTRY_COMPARE_WITH_TIMEOUT(bench.pill(), QStringLiteral("Paused"), 5'000);
        bench.page.launcher().resume();
        QTRY_COMPARE_WITH_TIMEOUT(bench.pill(), QStringLiteral("Running"), 5'000);
    }
};

QTEST_MAIN(TestRunPage)
#include "tst_run_page.moc"
