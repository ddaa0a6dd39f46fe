#include "engine/history/run_reader.h"
#include "tests/support/scripted_service.h"
#include "ui/bridge/engine_loader.h"
#include "ui/document/kept_draft.h"
#include "ui/document/setup_document.h"
#include "ui/main_window.h"
#include "ui/pages/navigation.h"
#include "ui/pages/run/closing.h"
#include "ui/pages/run/run_page.h"
#include "ui/theme/appearance.h"
#include "ui/widgets/action_bar.h"
#include "ui/widgets/pill_label.h"

#include <QApplication>
#include <QMessageBox>
#include <QPushButton>
#include <QSignalSpy>
#include <QStandardPaths>
#include <QTemporaryDir>
#include <QTest>
#include <QTimer>

using namespace mantissa;
using namespace mantissa::ui;
using mantissa::test::RunScript;
using mantissa::test::ScriptedService;

namespace {

/// What the window needs, with a scripted engine under it.
struct Services {
    explicit Services(RunScript script)
        : engine([script]() -> Result<std::unique_ptr<TrainingService>> {
              return std::unique_ptr<TrainingService>(new ScriptedService(script));
          })
    {
    }

    PageServices all() { return {document, engine, navigation, appearance, folder.path().toStdString()}; }
    void start()
    {
        RunRequest request;
        request.name = "scripted";
        request.history = folder.path().toStdString();
        request.plan.ranks = 2;
        emit navigation.runAsked(request);
    }

    QTemporaryDir folder;
    Appearance appearance;
    SetupDocument document;
    Navigation navigation;
    EngineLoader engine;
};

struct Bench : Services {
    explicit Bench(RunScript script) : Services(std::move(script)), page(all())
    {
        page.resize(1208, 668);
        page.show();
    }

    QString pill() const { return page.findChild<PillLabel*>()->text(); }
    Closing& closing() { return page.closing(); }

    RunPage page;
};

struct Window : Services {
    explicit Window(RunScript script) : Services(std::move(script)), window(all())
    {
        window.show();
        document.startFrom("trainer: {max_epochs: 1}\n", QStringLiteral("draft.yaml"));
        change();
    }

    void change() { document.setText(document.text() + "# changed\n", QStringLiteral("Change")); }
    RunPage& page() { return *static_cast<RunPage*>(window.page(QStringLiteral("run"))); }
    bool runs()
    {
        return QTest::qWaitFor(
            [&] { return page().launcher().run() && page().launcher().run()->state() == RunState::Running; },
            10'000);
    }
    /// Presses a button of the box about unsaved changes as soon as it is there.
    void answer(QMessageBox::StandardButton button)
    {
        QTimer::singleShot(50, &window, [this, button] {
            auto* box = qobject_cast<QMessageBox*>(QApplication::activeModalWidget());
            if (!box)
                return answer(button);
            ++boxes;
            box->button(button)->click();
        });
    }

    int boxes = 0;
    MainWindow window;
};

RunScript longScript(int perStep = 1)
{
    RunScript script;
    script.steps = 1'000'000;
    script.perStep = std::chrono::milliseconds(perStep);
    return script;
}

} // namespace

class TestClosing : public QObject {
    Q_OBJECT

private slots:
    void initTestCase() { QStandardPaths::setTestModeEnabled(true); }

    void closingMidRunAsksStopsAndCommits()
    {
        Bench bench(longScript());
        bench.start();
        QTRY_COMPARE_WITH_TIMEOUT(bench.pill(), QStringLiteral("Running"), 10'000);
        QSignalSpy allowed(&bench.page, &Page::closeAllowed);

        QVERIFY(!bench.page.mayClose());
        auto& bar = bench.closing().bar();
        QVERIFY(bar.isVisible());
        bar.findChildren<QPushButton*>().first()->click();

        QTRY_COMPARE_WITH_TIMEOUT(allowed.count(), 1, 10'000);
        QVERIFY(bench.page.mayClose());
        const auto reader = RunReader::open(bench.page.launcher().run()->folder());
        QVERIFY(reader);
        QVERIFY((*reader)->summary()->state == RunState::Stopped);
        QCOMPARE((*reader)->checkpoints()->size(), std::size_t{1});
    }

    void closingMayBeTakenBack()
    {
        Bench bench(longScript());
        bench.start();
        QTRY_COMPARE_WITH_TIMEOUT(bench.pill(), QStringLiteral("Running"), 10'000);

        QVERIFY(!bench.page.mayClose());
        bench.closing().bar().findChildren<QPushButton*>().last()->click();

        QVERIFY(!bench.closing().bar().isVisible());
        QVERIFY(bench.page.launcher().isBusy());
    }

    void aRankThatHangsDoesNotHoldTheWindow()
    {
        auto script = longScript();
        script.ignoresStop = true;
        Bench bench(script);
        bench.closing().setPatience(std::chrono::milliseconds(300));
        bench.start();
        QTRY_COMPARE_WITH_TIMEOUT(bench.pill(), QStringLiteral("Running"), 10'000);
        QSignalSpy allowed(&bench.page, &Page::closeAllowed);

        QVERIFY(!bench.page.mayClose());
        bench.closing().bar().findChildren<QPushButton*>().first()->click();

        QTRY_COMPARE_WITH_TIMEOUT(allowed.count(), 1, 5'000);
        QVERIFY(bench.page.mayClose());
    }

    void aCloseThatWasTakenBackIsAskedAboutAgain()
    {
        Bench bench(longScript());
        bench.start();
        QTRY_COMPARE_WITH_TIMEOUT(bench.pill(), QStringLiteral("Running"), 10'000);
        QVERIFY(!bench.page.mayClose());
        bench.closing().keepButton().click();

        QVERIFY(!bench.page.mayClose());

        QVERIFY(bench.closing().bar().isVisible());
        QVERIFY(bench.closing().stopButton().isVisible());
    }

    void theQuestionGoesWhenTheRunEndsByItself()
    {
        auto script = longScript();
        script.steps = 300;
        Bench bench(script);
        bench.start();
        QTRY_COMPARE_WITH_TIMEOUT(bench.pill(), QStringLiteral("Running"), 10'000);
        QSignalSpy allowed(&bench.page, &Page::closeAllowed);
        QVERIFY(!bench.page.mayClose());

        QTRY_VERIFY_WITH_TIMEOUT(!bench.closing().bar().isVisible(), 10'000);

        QCOMPARE(allowed.count(), 0);
        QVERIFY(bench.page.mayClose());
    }

    void aRunThatIsStoppingIsNotAskedAbout()
    {
        Bench bench(longScript(300));
        bench.start();
        QTRY_COMPARE_WITH_TIMEOUT(bench.pill(), QStringLiteral("Running"), 10'000);
        QSignalSpy allowed(&bench.page, &Page::closeAllowed);
        bench.page.launcher().stop();

        QVERIFY(!bench.page.mayClose());

        QVERIFY(!bench.closing().stopButton().isVisible());
        QTRY_COMPARE_WITH_TIMEOUT(allowed.count(), 1, 10'000);
        QVERIFY(!bench.closing().bar().isVisible());
    }

    void theWindowCanBeKeptOpenWhileTheRunStops()
    {
        Bench bench(longScript(300));
        bench.start();
        QTRY_COMPARE_WITH_TIMEOUT(bench.pill(), QStringLiteral("Running"), 10'000);
        QSignalSpy allowed(&bench.page, &Page::closeAllowed);
        QVERIFY(!bench.page.mayClose());
        bench.closing().stopButton().click();

        bench.closing().keepButton().click();

        QTRY_COMPARE_WITH_TIMEOUT(bench.pill(), QStringLiteral("Stopped"), 10'000);
        QTest::qWait(200);
        QCOMPARE(allowed.count(), 0);
    }

    void theNextRunIsAskedAboutAfterACloseThatWasCancelled()
    {
        Window bench(longScript(20));
        bench.start();
        QVERIFY(bench.runs());
        bench.answer(QMessageBox::Discard);
        QVERIFY(!bench.window.close());
        bench.page().closing().stopButton().click();
        bench.change(); // What was answered holds no longer, so it is asked again,
        bench.answer(QMessageBox::Cancel); // and taken back.
        QTRY_COMPARE_WITH_TIMEOUT(bench.boxes, 2, 10'000);
        QVERIFY(bench.window.isVisible());
        bench.start();
        QVERIFY(bench.runs());

        bench.answer(QMessageBox::Discard);
        QVERIFY(!bench.window.close());

        QVERIFY(bench.window.isVisible());
        QVERIFY(bench.page().closing().bar().isVisible());
        QVERIFY(bench.page().launcher().isBusy());
    }

    void theWindowStaysWhileItsQuestionIsOpen()
    {
        Window bench(longScript(20));
        bench.start();
        QVERIFY(bench.runs());
        bench.answer(QMessageBox::Discard);
        QVERIFY(!bench.window.close());
        bench.page().closing().stopButton().click();

        bool stayed = false;
        QTimer::singleShot(700, &bench.window, [&] { // By then the run has ended and closing is allowed.
            stayed = bench.window.isVisible() && !bench.page().launcher().isBusy();
            bench.answer(QMessageBox::Cancel);
        });
        QVERIFY(!bench.window.close());

        QVERIFY(stayed);
        QVERIFY(bench.window.isVisible());
    }

    // The last ones, since they end the program: no box opens after that.
    void aSignalStopsTheRunWithoutAQuestion()
    {
        Window bench(longScript());
        bench.start();
        QVERIFY(bench.runs());

        bench.window.end(143);

        QTRY_VERIFY_WITH_TIMEOUT(!bench.window.isVisible(), 10'000);
        QCOMPARE(bench.boxes, 0);
        const auto reader = RunReader::open(bench.page().launcher().run()->folder());
        QVERIFY((*reader)->summary()->state == RunState::Stopped);
        QCOMPARE((*reader)->checkpoints()->size(), std::size_t{1});
        QCOMPARE(keptDraft()->text, bench.document.text());
    }

    void aSignalEndsAWindowThatAsks()
    {
        Window bench(longScript());
        bench.start();
        QVERIFY(bench.runs());
        QTimer::singleShot(200, &bench.window, [&] { bench.window.end(130); });

        (void)bench.window.close(); // Asks about what is not saved.

        QTRY_VERIFY_WITH_TIMEOUT(!bench.window.isVisible(), 10'000);
        QVERIFY(!QApplication::activeModalWidget());
        QVERIFY(bench.page().launcher().run()->summary().state == RunState::Stopped);
    }
};

QTEST_MAIN(TestClosing)
#include "tst_closing.moc"
