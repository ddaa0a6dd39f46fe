#include "tests/support/scripted_service.h"
#include "ui/bridge/engine_loader.h"
#include "ui/document/setup_document.h"
#include "ui/models/checkpoints_model.h"
#include "ui/pages/compose/compose_page.h"
#include "ui/pages/history/history_page.h"
#include "ui/pages/history/resume_bar.h"
#include "ui/pages/history/stored_view.h"
#include "ui/pages/navigation.h"
#include "ui/pages/run/run_page.h"
#include "ui/plot/run_plot.h"
#include "ui/theme/appearance.h"
#include "ui/widgets/panels.h"

#include <SQLiteCpp/SQLiteCpp.h>

#include <QAbstractItemModelTester>
#include <QComboBox>
#include <QFile>
#include <QLineEdit>
#include <QPushButton>
#include <QSignalSpy>
#include <QStandardPaths>
#include <QTabBar>
#include <QTableView>
#include <QTemporaryDir>
#include <QTest>
#include <QToolButton>

#include <algorithm>
#include <bit>
#include <cmath>
#include <filesystem>

using namespace mantissa;
using namespace mantissa::ui;
using mantissa::test::RunScript;
using mantissa::test::ScriptedService;

namespace {

const char* const kSetup =
    "trainer:\n  precision: 16-mixed\n  strategy: fsdp\noptimizer:\n  class_path: torch.optim.AdamW\n";

const char* const kTrains = "trainer:\n  max_steps: 100\nmodel:\n  class_path: mantissa.MLP\ndata:\n  "
                            "class_path: mantissa.FashionMNIST\n"
                            "optimizer:\n  class_path: torch.optim.SGD\nmantissa:\n  target: mantissa\n";

/// A history with what scripted runs left in it.
struct Bench {
    void train(const std::string& name, const RunScript& script, const char* setup = kSetup)
    {
        ScriptedService service(script);
        RunRequest request;
        request.name = name;
        request.setupText = setup;
        request.history = history();
        auto run = service.start(request);
        QVERIFY(run);
        QVERIFY((*run)->wait(std::chrono::seconds(10)));
    }

    std::filesystem::path history() const { return folder.path().toStdString(); }

    QTemporaryDir folder;
    Appearance appearance;
    SetupDocument document;
    Navigation navigation;
    EngineLoader engine{[]() -> Result<std::unique_ptr<TrainingService>> {
        return std::unique_ptr<TrainingService>(new ScriptedService);
    }};
    PageServices services{document, engine, navigation, appearance, history()};
};

QStringList names(HistoryPage& page)
{
    QStringList names;
    for (int row = 0; row < page.filter().rowCount(); ++row)
        names << page.filter().index(row, RunsModel::Name).data().toString();
    return names;
}

/// NaN equals NaN: what is compared are the bits.
bool sameBits(const SeriesColumn& a, const SeriesColumn& b)
{
    if (a.size() != b.size())
        return false;
    for (std::size_t at = 0; at < a.size(); ++at)
        if (a.levels.x(at) != b.levels.x(at)
            || std::bit_cast<std::uint64_t>(a.levels.value(at))
                != std::bit_cast<std::uint64_t>(b.levels.value(at)))
            return false;
    return true;
}

} // namespace

class TestHistoryPage : public QObject {
    Q_OBJECT

private slots:
    void initTestCase() { QStandardPaths::setTestModeEnabled(true); }

    void runsAreListedWithWhatTheirSetUpSays()
    {
        Bench bench;
        RunScript script;
        script.steps = 60;
        bench.train("first", script);
        HistoryPage page(bench.services);
        const QAbstractItemModelTester tester(&page.runs());
        const QAbstractItemModelTester filterTester(&page.filter());

        page.activate();

        QTRY_COMPARE(names(page), QStringList{QStringLiteral("first")});
        const auto cell = [&](int column) { return page.filter().index(0, column).data().toString(); };
        QTRY_COMPARE(cell(RunsModel::Precision), QStringLiteral("16-mixed"));
        QCOMPARE(cell(RunsModel::State), QStringLiteral("finished"));
        QCOMPARE(cell(RunsModel::Strategy), QStringLiteral("fsdp × 2"));
        QCOMPARE(cell(RunsModel::Optimizer), QStringLiteral("AdamW"));
        QCOMPARE(cell(RunsModel::Steps), QStringLiteral("60"));
        QCOMPARE(cell(RunsModel::Skipped), QStringLiteral("2"));
    }

    void aRowIsReadOnceMoreAfterItsRunHasEnded()
    {
        Bench bench;
        RunScript script;
        script.steps = 60;
        script.perStep = std::chrono::milliseconds(30);
        ScriptedService service(script);
        RunRequest request;
        request.name = "going";
        request.setupText = kSetup;
        request.history = bench.history();
        auto run = service.start(request);
        QVERIFY(run);
        HistoryPage page(bench.services);
        page.activate();
        const auto cell = [&](int column) { return page.filter().index(0, column).data().toString(); };
        QTRY_COMPARE(cell(RunsModel::Precision), QStringLiteral("16-mixed"));
        QCOMPARE(cell(RunsModel::State), QStringLiteral("running"));

        QVERIFY((*run)->wait(std::chrono::seconds(10)));
        page.activate();

        QTRY_COMPARE(cell(RunsModel::State), QStringLiteral("finished"));
        QTRY_COMPARE(cell(RunsModel::Skipped), QStringLiteral("2"));
        QVERIFY(cell(RunsModel::Loss) != QStringLiteral("–"));
    }

    void typingFilters_data()
    {
        QTest::addColumn<QString>("text");
        QTest::addColumn<QString>("left");

        QTest::newRow("a word of the name") << "fir"
                                            << "first";
        QTest::newRow("skipped more than") << "skipped>1"
                                           << "first";
        QTest::newRow("skipped less than") << "skipped<1"
                                           << "second";
        QTest::newRow("both terms must fit") << "skipped>1 name:second"
                                             << "";
        QTest::newRow("precision") << "precision:16-mixed sec"
                                   << "second";
        QTest::newRow("a key that is not finished takes nothing away") << "state:"
                                                                       << "first second";
    }

    void typingFilters()
    {
        QFETCH(QString, text);
        QFETCH(QString, left);
        Bench bench;
        RunScript script;
        script.steps = 60;
        bench.train("first", script);
        script.skips = {};
        bench.train("second", script);
        HistoryPage page(bench.services);
        page.activate();
        QTRY_COMPARE(page.filter().rowCount(), 2);
        QTRY_COMPARE(page.runs().facts(0).has_value() && page.runs().facts(1).has_value(), true);

        page.query().setText(text);

        auto found = names(page);
        found.sort();
        QCOMPARE(found.join(u' '), left);
    }

    void aStoredRunGoesOnFromItsCheckpoint()
    {
        Bench bench;
        RunScript script;
        script.steps = 60;
        bench.train("first", script, kTrains);
        HistoryPage page(bench.services);
        page.resize(1200, 640);
        page.show();
        page.activate();
        QTRY_COMPARE(page.runs().rowCount(), 1);
        page.open(page.runs().run(0).folder);
        auto& bar = page.view().resumeBar();
        QVERIFY(!bar.isVisible());
        page.view().askResume(); // It is not read yet.
        QTRY_VERIFY(bar.isVisible());
        QSignalSpy drafts(&bench.navigation, &Navigation::resumeDraftAsked);
        std::vector<RunRequest> asked;
        connect(&bench.navigation, &Navigation::runAsked, this,
                [&](const RunRequest& request) { asked.push_back(request); });

        ResumeWish wish;
        wish.toSteps = 30;
        emit bar.resumeAsked(wish, false); // Fewer than it has.
        QTRY_VERIFY(bar.problem().contains(QStringLiteral("60 steps already")));
        wish.toSteps = 90;
        emit bar.resumeAsked(wish, true);
        QTRY_COMPARE(drafts.count(), 1);
        for (auto* button : bar.findChildren<QPushButton*>())
            if (button->text() == QStringLiteral("Resume"))
                button->click();

        QTRY_COMPARE(asked.size(), std::size_t{1});
        QCOMPARE(asked.front().resume->parentStep, std::int64_t{59});
        QCOMPARE(asked.front().resume->parentRun, page.runs().run(0).id);
        QCOMPARE(asked.front().name, std::string("first-from-60"));
    }

    void aQueryWithAnUnknownKeySaysWhichThereAre()
    {
        QVERIFY(RunQuery(QStringLiteral("colour:red")).complaint().contains(QStringLiteral("precision")));
        QVERIFY(RunQuery(QStringLiteral("skipped>many")).complaint().contains(QStringLiteral("many")));
    }

    void aDamagedRunIsListedWithItsError()
    {
        Bench bench;
        const auto broken = bench.history() / "20260101-000000-broken-abcdefgh";
        std::filesystem::create_directories(broken);
        QFile file(QString::fromStdString((broken / "run.sqlite").string()));
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write("this is no database");
        file.close();
        HistoryPage page(bench.services);

        page.activate();

        QTRY_COMPARE(page.filter().rowCount(), 1);
        QCOMPARE(page.filter().index(0, RunsModel::State).data().toString(), QStringLiteral("damaged"));
        QVERIFY(names(page).first().contains(QStringLiteral("not a database")));
        for (const auto* words : {"damaged", "database", "broken", "state:damaged"}) {
            page.query().setText(QLatin1String(words));
            QVERIFY2(page.filter().rowCount() == 1, words);
        }
        for (const auto* words : {"finished", "steps<1", "skipped<1"}) {
            page.query().setText(QLatin1String(words));
            QVERIFY2(page.filter().rowCount() == 0, words);
        }
    }

    void aHistoryThatCannotBeReadIsNotCalledEmpty()
    {
        Bench bench;
        const auto path = bench.folder.filePath(QStringLiteral("history"));
        QFile file(path);
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.close();
        const PageServices services{bench.document, bench.engine, bench.navigation, bench.appearance,
                                    path.toStdString()};
        HistoryPage page(services);
        ComposePage compose(services);

        page.activate();

        QTRY_VERIFY(page.statusText().contains(QStringLiteral("cannot be read")));
        const auto labels = page.findChildren<QLabel*>();
        QVERIFY(std::none_of(labels.begin(), labels.end(), [](const QLabel* label) {
            return label->text().contains(QStringLiteral("No run is stored"))
                || label->text() == QStringLiteral("0 runs");
        }));
        auto* bar = compose.findChild<MessageBar*>();
        QTRY_VERIFY(!bar->isHidden());
        QVERIFY(bar->findChild<QLabel*>()->text().contains(QStringLiteral("cannot be read")));
    }

    void whatIsDamagedOfARunIsNotMadeUp()
    {
        Bench bench;
        RunScript script;
        script.steps = 1100; // More than a chunk.
        bench.train("hurt", script);
        const auto folder = listRuns(bench.history())->front().folder;
        SQLite::Database((folder / "run.sqlite").string(), SQLite::OPEN_READWRITE)
            .exec("UPDATE chunk SET \"values\" = x'00'; UPDATE setup SET yaml = ''");
        HistoryPage page(bench.services);
        page.resize(1200, 640);
        page.show();

        page.activate();

        const auto cell = [&](int column) { return page.filter().index(0, column).data().toString(); };
        QTRY_COMPARE(cell(RunsModel::State), QStringLiteral("damaged"));
        for (const int column :
             {RunsModel::Precision, RunsModel::Strategy, RunsModel::Loss, RunsModel::Skipped})
            QCOMPARE(cell(column), QStringLiteral("–"));
        page.open(folder);
        auto* bar = page.view().findChild<MessageBar*>();
        QTRY_VERIFY(bar->isVisible());
        QVERIFY(bar->findChild<QLabel*>()->text().contains(QStringLiteral("Parts of this run")));
    }

    void whoIsOnTheNewestRunStaysOnTheNewest()
    {
        Bench bench;
        RunScript script;
        script.steps = 5;
        bench.train("first", script);
        HistoryPage page(bench.services);
        page.resize(1200, 640);
        page.show();
        page.activate();
        QTRY_COMPARE(page.filter().rowCount(), 1);
        QTest::qWait(1100); // The start is stored in seconds.
        bench.train("second", script);
        page.activate();
        QTRY_COMPARE(page.filter().rowCount(), 2);

        const auto tables = page.findChildren<QTableView*>();
        auto* table = *std::find_if(tables.begin(), tables.end(), [](const QTableView* each) {
            return each->accessibleName() == QStringLiteral("Stored runs");
        });
        QTest::keyClick(table, Qt::Key_Return);

        QTRY_COMPARE(page.view().folder(), page.runs().run(0).folder);
        QCOMPARE(page.view().row().name, std::string("second"));
    }

    void aFailedRunHasItsFailureInATab()
    {
        Bench bench;
        RunScript script;
        script.failAt = 0;
        bench.train("failed", script, kTrains);
        HistoryPage page(bench.services);
        page.resize(1200, 640);
        page.show();

        page.open(listRuns(bench.history())->front().folder);

        auto* tabs = page.view().findChild<QTabBar*>();
        QTRY_VERIFY(tabs->isTabVisible(tabs->currentIndex()) && tabs->currentIndex() > 0);
        QTRY_VERIFY(tabs->rect().contains(tabs->tabRect(tabs->currentIndex())));
        for (const auto* table : page.view().findChildren<QTableView*>())
            if (table->accessibleName() == QStringLiteral("Ranks of the run"))
                QCOMPARE(table->model()->rowCount(), 0);
    }

    void checkpointsAreNamedByTheStepsTheyHold()
    {
        CheckpointsModel model;
        model.setCheckpoints({{199, "checkpoints/step-000000200", 10, {}, true}});

        QCOMPARE(model.index(0, CheckpointsModel::AtStep).data().toString(), QStringLiteral("200"));
        QVERIFY(model.headerData(CheckpointsModel::AtStep, Qt::Horizontal, Qt::DisplayRole)
                    .toString()
                    .contains(QStringLiteral("After")));
        ResumeBar bar;
        bar.setCheckpoints({{199, "checkpoints/step-000000200", 10, {}, true}});
        QVERIFY(bar.findChild<QComboBox*>()->itemText(0).contains(QStringLiteral("200")));
    }

    void aReplayIsOfferedOnlyWhereACheckpointLiesBeforeIt()
    {
        Bench bench;
        RunScript script;
        script.steps = 60;
        script.events = {{20, 0.0, "nonfinite", "backward", 1, {}, "Inf", {}}};
        bench.train("first", script, kTrains); // Its only checkpoint is that of the end.
        HistoryPage page(bench.services);
        page.resize(1200, 640);
        page.show();

        page.open(listRuns(bench.history())->front().folder);

        const auto tools = page.view().findChildren<QToolButton*>();
        const auto rewind = std::find_if(tools.begin(), tools.end(), [](const QToolButton* tool) {
            return tool->text() == QStringLiteral("Find the origin");
        });
        QTRY_VERIFY((*rewind)->isVisible());
        QVERIFY(!(*rewind)->isEnabled());
        QVERIFY((*rewind)->toolTip().contains(QStringLiteral("every_n_train_steps")));
    }

    void aRunShownLiveHasTheSamePointsWhenReopened()
    {
        Bench bench;
        RunPage live(bench.services);
        live.resize(1200, 640);
        live.show();
        RunRequest request;
        request.name = "live";
        request.setupText = kSetup;
        request.history = bench.history();
        request.plan.scaler.enabled = true;
        emit bench.navigation.runAsked(request);
        QTRY_VERIFY_WITH_TIMEOUT(live.launcher().run() && live.launcher().settled(), 10'000);
        QTRY_COMPARE_WITH_TIMEOUT(live.plot().series().lastStep(), 119.0, 5'000);

        HistoryPage page(bench.services);
        page.open(live.launcher().run()->folder());

        QTRY_COMPARE_WITH_TIMEOUT(page.view().plot().series().lastStep(), 119.0, 5'000);
        const auto& stored = page.view().plot().series();
        QCOMPARE(stored.columns().size(), live.plot().series().columns().size());
        for (const auto& column : live.plot().series().columns()) {
            const auto* other = stored.find(column.spec.name, column.spec.rank);
            QVERIFY(other);
            QVERIFY(sameBits(column, *other));
        }
        QCOMPARE(page.view().setupText(), QString::fromLatin1(kSetup));
    }

    void aStoredRunOpensAsANewDraft()
    {
        Bench bench;
        RunScript script;
        script.steps = 5;
        bench.train("first", script);
        HistoryPage page(bench.services);
        page.open(listRuns(bench.history())->front().folder);
        QTRY_COMPARE(page.view().setupText(), QString::fromLatin1(kSetup));
        QSignalSpy drafts(&bench.navigation, &Navigation::draftAsked);

        emit page.view().draftAsked(page.view().setupText(), QStringLiteral("first.yaml"));

        QCOMPARE(drafts.count(), 1);
        QCOMPARE(drafts.first().first().toString(), QString::fromLatin1(kSetup));
    }

    void aMissingFolderIsAnErrorOnThePage()
    {
        Bench bench;
        HistoryPage page(bench.services);

        page.open(bench.history() / "nothing-here");

        QTRY_COMPARE(page.view().folder(), bench.history() / "nothing-here");
    }
};

QTEST_MAIN(TestHistoryPage)
#include "tst_history_page.moc"
