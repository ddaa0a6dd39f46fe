#include "engine/recipe/fields.h"
#include "tests/support/scripted_service.h"
#include "ui/bridge/engine_loader.h"
#include "ui/diagram/step_scene.h"
#include "ui/document/setup_document.h"
#include "ui/main_window.h"
#include "ui/pages/compose/document_header.h"
#include "ui/pages/compose/facts_form.h"
#include "ui/pages/compose/field_editor.h"
#include "ui/pages/compose/finding_row.h"
#include "ui/pages/compose/findings_panel.h"
#include "ui/pages/compose/fix_consequences.h"
#include "ui/pages/compose/palette_panel.h"
#include "ui/pages/compose/stage_form.h"
#include "ui/pages/compose/yaml_editor.h"
#include "ui/pages/navigation.h"
#include "ui/text/convert.h"
#include "ui/theme/appearance.h"
#include "ui/widgets/action_bar.h"
#include "ui/widgets/fix_button.h"
#include "ui/widgets/panels.h"
#include "ui/widgets/pill_label.h"
#include "ui/widgets/pop_over.h"
#include "ui/widgets/status_line.h"

#include <QComboBox>
#include <QLineEdit>
#include <QMenu>
#include <QPushButton>
#include <QScrollBar>
#include <QSettings>
#include <QSignalSpy>
#include <QStandardPaths>
#include <QTemporaryDir>
#include <QTest>
#include <QToolButton>

#include <algorithm>

using namespace mantissa;
using namespace mantissa::ui;

namespace {

const char* const kUnscalesItself = R"(trainer:
  precision: 16-mixed
  strategy: fsdp
  accelerator: gpu
  devices: 2
model:
  class_path: mantissa.MLP
data:
  class_path: mantissa.FashionMNIST
optimizer:
  class_path: torch.optim.AdamW
  init_args:
    lr: 3e-4
    fused: true
mantissa:
  target: fabric-2.6.6
  fabric:
    max_norm: 1.0
)";

Result<std::unique_ptr<TrainingService>> noEngine()
{
    return Error{ErrorCode::NotHere, "No engine here.", "Build it."};
}

/// The window as the program makes it.
struct Desk {
    QTemporaryDir folder;
    Appearance appearance;
    Navigation navigation;
    SetupDocument document;
    EngineLoader engine;
    MainWindow window{{document, engine, navigation, appearance, folder.path().toStdString()}};

    explicit Desk(EngineLoader::Load load = noEngine) : engine(std::move(load))
    {
        window.resize(1280, 720);
        window.show();
        (void)QTest::qWaitForWindowExposed(&window);
    }

    template <typename Widget>
    Widget* find() const
    {
        return window.findChild<Widget*>();
    }

    FieldEditor* field(const char* path) const { return window.findChild<FieldEditor*>(QLatin1String(path)); }
};

} // namespace

class TestComposePage : public QObject {
    Q_OBJECT

private slots:
    void initTestCase()
    {
        QCoreApplication::setOrganizationName(QStringLiteral("mantissa-tests"));
        QStandardPaths::setTestModeEnabled(true);
        QSettings().clear();
    }

    void everyFactOfTheTableCanBeAnswered()
    {
        Desk desk;
        desk.document.startFrom(kUnscalesItself, QStringLiteral("bad.yaml"));
        emit desk.navigation.factsAsked();
        auto* form = desk.find<FactsForm>();
        QVERIFY(form->isVisible());
        form->findChild<QToolButton*>(QStringLiteral("more"))->click();

        for (const auto* field : allFields())
            if (field->path.starts_with("mantissa.facts."))
                QVERIFY2(form->findChild<QWidget*>(toQt(field->path)), std::string(field->path).c_str());
        auto* packages = form->findChild<QComboBox*>(toQt(field::envPackages.path));
        packages->setCurrentText(QStringLiteral("[deepspeed]"));
        emit packages->lineEdit()->editingFinished();
        QCOMPARE(desk.document.setup()[field::envPackages].asList().size(), std::size_t{1});

        auto* hooks = form->findChild<QToolButton*>(toQt(field::overrides.path));
        hooks->menu()->actions().front()->trigger();
        QCOMPARE(desk.document.setup()[field::overrides].asList().front().asString(),
                 std::string(field::overrides.choices.front()));
    }

    void whatWasAssumedCanBeSettledWhereverItIsWritten()
    {
        Desk desk;
        std::string text = kUnscalesItself;
        text.replace(text.find("fabric-2.6.6"), 12, "trainer-2.6.6");
        desk.document.startFrom(text, QStringLiteral("bad.yaml"));
        emit desk.navigation.factsAsked();
        auto* form = desk.find<FactsForm>();

        const auto& assumed = desk.document.report().assumed;
        QVERIFY(std::any_of(assumed.begin(), assumed.end(), [](const Assumption& each) {
            return !std::string_view(each.path).starts_with("mantissa.facts.");
        }));
        for (const auto& each : assumed)
            QVERIFY2(form->findChild<QComboBox*>(QString::fromStdString(each.path)), each.path.c_str());
    }

    void argumentsOfAnotherClassAreNotOffered()
    {
        Desk desk;
        desk.document.startFrom(kUnscalesItself, QStringLiteral("bad.yaml"));
        desk.find<StageForm>()->showStage(Stage::Optimizer);
        QVERIFY(desk.field("optimizer.init_args.betas")->isVisibleTo(desk.find<StageForm>()));
        QVERIFY(!desk.field("optimizer.init_args.nesterov")->isVisibleTo(desk.find<StageForm>()));

        QVERIFY(desk.document.setField(std::string(field::optimizerClass.path), Value("torch.optim.SGD")));

        QVERIFY(!desk.field("optimizer.init_args.betas")->isVisibleTo(desk.find<StageForm>()));
        QVERIFY(desk.field("optimizer.init_args.nesterov")->isVisibleTo(desk.find<StageForm>()));
        // What is written stays in sight, whoever takes it.
        QVERIFY(desk.document.setField("optimizer.init_args.betas", Value(ValueList{0.9, 0.99})));
        QVERIFY(desk.field("optimizer.init_args.betas")->isVisibleTo(desk.find<StageForm>()));
    }

    void anEmptyFileThatWasOpenedIsASetup()
    {
        Desk desk;
        auto* line = desk.find<StatusLine>();
        QCOMPARE(line->text(), QStringLiteral("No set-up is open"));
        QFile file(desk.folder.filePath(QStringLiteral("empty.yaml")));
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.close();

        desk.window.openFile(file.fileName());

        QVERIFY(line->text().isEmpty());
    }

    void savingWhereNothingMayBeWrittenLosesNothing()
    {
        Desk desk;
        desk.document.startFrom(kUnscalesItself, QStringLiteral("bad.yaml"));
        desk.document.setText(desk.document.text() + "# mine\n", QStringLiteral("Type"));
        const auto before = desk.document.text();

        const auto saved = desk.document.save(QStringLiteral("/proc/no-such-place/bad.yaml"));

        QVERIFY(!saved);
        QVERIFY(saved.error().message.find("/proc/no-such-place/bad.yaml") != std::string::npos);
        QVERIFY(saved.error().hint.find("another folder") != std::string::npos);
        QVERIFY(desk.document.isModified());
        QCOMPARE(desk.document.text(), before);
    }

    void aBadPresetIsMendedByTheKeyboardAlone()
    {
        Desk desk;
        desk.document.startFrom(kUnscalesItself, QStringLiteral("bad.yaml"));
        QCOMPARE(desk.document.report().onTarget.verdict, Verdict::Stops);

        QTest::keyClick(&desk.window, Qt::Key_F8);
        auto* fix = qobject_cast<FixButton*>(QApplication::focusWidget());
        QVERIFY(fix);
        QTest::keyClick(fix, Qt::Key_Return);

        QTRY_VERIFY(desk.document.report().onTarget.verdict != Verdict::Stops);
        QVERIFY(desk.document.report().onTarget.verdict != Verdict::WontStart);
        QCOMPARE(desk.document.report().here.verdict, Verdict::Runs);
        QTest::keyClick(&desk.window, Qt::Key_Z, Qt::ControlModifier);
        QCOMPARE(desk.document.text(), std::string(kUnscalesItself));
    }

    void focusOnAFixPreviewsItAndLeavingEndsThePreview()
    {
        Desk desk;
        desk.document.startFrom(kUnscalesItself, QStringLiteral("bad.yaml"));
        auto* panel = desk.find<FindingsPanel>();
        const QSignalSpy started(panel, &FindingsPanel::fixPreviewed);
        const QSignalSpy ended(panel, &FindingsPanel::previewEnded);

        panel->step(1);
        QTRY_COMPARE(started.count(), 1);
        QTest::keyClick(QApplication::focusWidget(), Qt::Key_Escape);

        QCOMPARE(ended.count(), 1);
        QCOMPARE(desk.document.text(), std::string(kUnscalesItself));
    }

    void aPreviewSaysInWordsWhatItDoes()
    {
        SetupDocument document;
        document.startFrom(kUnscalesItself, QStringLiteral("bad.yaml"));
        const auto& finding = document.report().findings.front();

        const auto preview =
            previewFix(document.setup(), document.plan(), document.report(), finding, finding.fixes.front());

        QVERIFY(preview);
        QVERIFY2(preview->picture.consequences.contains(QStringLiteral("fixes this")),
                 qPrintable(preview->picture.consequences));
        QVERIFY(!(preview->after == document.setup()));
    }

    void theFormAndTheSetupAreOne()
    {
        Desk desk;
        desk.document.startFrom(kUnscalesItself, QStringLiteral("bad.yaml"));
        desk.find<StageForm>()->showStage(Stage::Optimizer);

        auto* rate = desk.field("optimizer.init_args.lr");
        QVERIFY(rate);
        auto* line = rate->findChild<QLineEdit*>();
        QCOMPARE(line->text(), QStringLiteral("3.0e-04"));
        line->setText(QStringLiteral("1e-2"));
        QTest::keyClick(line, Qt::Key_Return);
        QCOMPARE(desk.document.setup().at("optimizer.init_args.lr").asDouble(), 0.01);

        QVERIFY(desk.document.setField("optimizer.init_args.lr", 0.5));
        QCOMPARE(line->text(), QStringLiteral("0.5"));
        line->clear();
        QTest::keyClick(line, Qt::Key_Return);
        QVERIFY(!desk.document.setup().has("optimizer.init_args.lr"));
        QVERIFY(line->placeholderText().contains(QStringLiteral("default")));
    }

    void aWrongValueIsRefusedAtItsField_data()
    {
        QTest::addColumn<QString>("path");
        QTest::addColumn<QString>("text");
        QTest::addColumn<bool>("fits");
        QTest::newRow("a number") << "optimizer.init_args.lr"
                                  << "3e-4" << true;
        QTest::newRow("a word") << "optimizer.init_args.lr"
                                << "fast" << false;
        QTest::newRow("below the range") << "optimizer.init_args.lr"
                                         << "-1" << false;
        QTest::newRow("half a rank") << "mantissa.ranks"
                                     << "1.5" << false;
        QTest::newRow("a list") << "optimizer.init_args.betas"
                                << "[0.9, 0.95]" << true;
        QTest::newRow("no list") << "optimizer.init_args.betas"
                                 << "0.9" << false;
    }

    void aWrongValueIsRefusedAtItsField()
    {
        QFETCH(QString, path);
        QFETCH(QString, text);
        QFETCH(bool, fits);
        const auto* field = fieldAt(path.toStdString());
        QVERIFY(field);

        QCOMPARE(bool(FieldEditor::valueOf(*field, text)), fits);
    }

    void findingsStandAtTheirField()
    {
        Desk desk;
        desk.document.startFrom(kUnscalesItself, QStringLiteral("bad.yaml"));

        desk.find<StageForm>()->showStage(Stage::Optimizer);

        const auto labels = desk.field("optimizer.init_args.fused")->findChildren<QLabel*>();
        QVERIFY(std::any_of(labels.begin(), labels.end(), [](const QLabel* label) {
            return label->text().startsWith(QStringLiteral("Will stop"));
        }));
    }

    void typingWhatCannotBeReadShowsWhere()
    {
        Desk desk;
        desk.document.startFrom(kUnscalesItself, QStringLiteral("bad.yaml"));
        auto* editor = desk.find<YamlEditor>();

        editor->setPlainText(QStringLiteral("trainer:\n  precision: [1, 2}\n"));

        QVERIFY(!desk.document.isReadable());
        const auto pills = desk.window.findChildren<PillLabel*>();
        QVERIFY(std::any_of(pills.begin(), pills.end(), [](const PillLabel* pill) {
            return pill->text() == QStringLiteral("Target: not checked, line 2");
        }));
        QCOMPARE(desk.find<FindingsPanel>()->selectedRow(), -1);
    }

    void undoWorksWhereTextIsTyped()
    {
        Desk desk;
        desk.document.startFrom(kUnscalesItself, QStringLiteral("bad.yaml"));
        desk.find<StageForm>()->showStage(Stage::Optimizer);
        auto* line = desk.field("optimizer.init_args.lr")->findChild<QLineEdit*>();
        QVERIFY(desk.document.setField("optimizer.init_args.lr", 0.5));

        line->setFocus();
        QTest::keyClick(line, Qt::Key_Z, Qt::ControlModifier);
        QCOMPARE(desk.document.text(), std::string(kUnscalesItself));
        QTest::keyClick(line, Qt::Key_Z, Qt::ControlModifier | Qt::ShiftModifier);
        QCOMPARE(desk.document.setup().at("optimizer.init_args.lr").asDouble(), 0.5);

        auto* editor = desk.find<YamlEditor>();
        QTest::keyClick(editor, Qt::Key_Z, Qt::ControlModifier);
        QCOMPARE(desk.document.text(), std::string(kUnscalesItself));
        QTest::keyClick(editor, Qt::Key_Z, Qt::ControlModifier | Qt::ShiftModifier);
        QCOMPARE(desk.document.setup().at("optimizer.init_args.lr").asDouble(), 0.5);
    }

    void aFactIsAnsweredInTheForm()
    {
        Desk desk;
        desk.document.startFrom(
            "trainer:\n  precision: 16-mixed\n  strategy: fsdp\n  accelerator: gpu\n  devices: 2\n"
            "  gradient_clip_val: 1.0\n",
            QStringLiteral("clip.yaml"));
        const auto isOpen = [&] {
            const auto& assumed = desk.document.report().assumed;
            return std::any_of(assumed.begin(), assumed.end(), [](const Assumption& fact) {
                return fact.path == "mantissa.facts.automatic_optimization";
            });
        };
        QVERIFY(isOpen());
        emit desk.navigation.factsAsked();
        auto* form = desk.find<FactsForm>();
        QVERIFY(form->isVisible());

        auto* combo = form->findChild<QComboBox*>(QStringLiteral("mantissa.facts.automatic_optimization"));
        QVERIFY(combo);
        combo->setCurrentIndex(1);
        emit combo->activated(1);

        QVERIFY(desk.document.setup().at("mantissa.facts.automatic_optimization").asBool());
        QVERIFY(!isOpen());
    }

    void aDraftThatGoesOnFromARunSaysSoAndStartsThere()
    {
        Desk desk([]() -> Result<std::unique_ptr<TrainingService>> {
            return std::unique_ptr<TrainingService>(new test::ScriptedService);
        });
        std::vector<RunRequest> asked;
        connect(&desk.navigation, &Navigation::runAsked, this,
                [&](const RunRequest& request) { asked.push_back(request); });
        std::string text = kUnscalesItself;
        text.replace(text.find("fused: true"), 11, "fused: false");
        emit desk.navigation.resumeDraftAsked(
            {text, {"somewhere/checkpoints/step-59", "abcdefgh", 59}, "first-from-60"});
        const auto bars = desk.window.findChildren<ActionBar*>();
        const auto bar = std::find_if(bars.begin(), bars.end(), [](const ActionBar* each) {
            return each->isVisible()
                && each->title().contains(QStringLiteral("after 60 steps of run abcdefgh"));
        });
        QVERIFY(bar != bars.end());
        QTRY_VERIFY(desk.find<DocumentHeader>()->startHindrance().isEmpty());

        desk.find<DocumentHeader>()->startAsked();
        QCOMPARE(asked.size(), std::size_t{1});
        QCOMPARE(asked.front().resume->parentStep, std::int64_t{59});

        (*bar)->findChild<QPushButton*>()->click();
        QVERIFY(!(*bar)->isVisible());
        QVERIFY(!desk.document.resume());
    }

    void startHandsTheRunOver()
    {
        Desk desk([]() -> Result<std::unique_ptr<TrainingService>> {
            return std::unique_ptr<TrainingService>(new test::ScriptedService);
        });
        auto text = std::string(kUnscalesItself);
        text.replace(text.find("fused: true"), 11, "fused: false");
        desk.document.startFrom(text, QStringLiteral("good.yaml"));
        RunRequest request;
        connect(&desk.navigation, &Navigation::runAsked, this,
                [&](const RunRequest& asked) { request = asked; });

        QTRY_COMPARE(desk.engine.state(), EngineLoader::State::Ready);
        QTest::keyClick(&desk.window, Qt::Key_R, Qt::ControlModifier);

        QCOMPARE(request.setupText, text);
        QCOMPARE(request.name, std::string("good"));
        QCOMPARE(request.plan.ranks, 2);
        QVERIFY(!request.history.empty());
        QVERIFY(request.findingsJson.starts_with("["));
    }

    void whatTheTargetRefusesDoesNotStartUnasked()
    {
        Desk desk([]() -> Result<std::unique_ptr<TrainingService>> {
            return std::unique_ptr<TrainingService>(new test::ScriptedService);
        });
        desk.document.startFrom(kUnscalesItself, QStringLiteral("bad.yaml"));
        const QSignalSpy asked(&desk.navigation, &Navigation::runAsked);
        RunRequest request;
        connect(&desk.navigation, &Navigation::runAsked, this,
                [&](const RunRequest& wanted) { request = wanted; });

        QTRY_COMPARE(desk.engine.state(), EngineLoader::State::Ready);
        QTest::keyClick(&desk.window, Qt::Key_R, Qt::ControlModifier);

        QCOMPARE(asked.count(), 0);
        QVERIFY(desk.find<PopOver>()->isVisible());

        for (auto* button : desk.find<PopOver>()->findChildren<QPushButton*>())
            if (button->text() == QStringLiteral("Start anyway"))
                button->click();

        QCOMPARE(asked.count(), 1);
        QCOMPARE(request.plan.mode, RunMode::Extended);
        QVERIFY2(request.setupText.find("mode: extended") != std::string::npos, request.setupText.c_str());
        QCOMPARE(desk.document.text(), std::string(kUnscalesItself));
    }

    void whatIsSaidOfOneSetUpGoesWithIt()
    {
        Desk desk([]() -> Result<std::unique_ptr<TrainingService>> {
            return std::unique_ptr<TrainingService>(new test::ScriptedService);
        });
        desk.document.startFrom(kUnscalesItself, QStringLiteral("bad.yaml"));
        emit desk.navigation.runningChanged(true);
        QTRY_COMPARE(desk.engine.state(), EngineLoader::State::Ready);
        auto* page = desk.window.page(QStringLiteral("compose"));
        auto* bar = page->findChild<MessageBar*>();
        QTest::keyClick(&desk.window, Qt::Key_R, Qt::ControlModifier);
        QVERIFY(bar->isVisible());

        QTest::keyClick(&desk.window, Qt::Key_N, Qt::ControlModifier);

        QVERIFY(!bar->isVisible());
    }

    void aFileWithoutASettingIsNotCalledRunnable()
    {
        Desk desk([]() -> Result<std::unique_ptr<TrainingService>> {
            return std::unique_ptr<TrainingService>(new test::ScriptedService);
        });
        const QTemporaryDir folder;
        const auto path = folder.filePath(QStringLiteral("empty.yaml"));
        QFile file(path);
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write("# nothing yet\n");
        file.close();

        desk.window.openFile(path);
        QTRY_COMPARE(desk.engine.state(), EngineLoader::State::Ready);

        QVERIFY(!desk.find<DocumentHeader>()->startHindrance().isEmpty());
        for (const auto* pill : desk.find<DocumentHeader>()->findChildren<PillLabel*>())
            QVERIFY2(pill->text().contains(QStringLiteral("nothing")), qPrintable(pill->text()));
    }

    void aClassInAFormIsCalledByItsName()
    {
        Desk desk;
        desk.document.startFrom(
            "trainer:\n  strategy:\n    class_path: lightning.pytorch.strategies.FSDPStrategy\n"
            "    init_args: {sharding_strategy: HYBRID_SHARD}\n",
            QStringLiteral("hybrid.yaml"));
        desk.find<StageForm>()->showStage(Stage::Forward);

        auto* editor = desk.find<StageForm>()->findChild<FieldEditor*>(QStringLiteral("trainer.strategy"));

        QVERIFY(editor);
        QCOMPARE(editor->findChild<QComboBox*>()->currentText(), QStringLiteral("FSDPStrategy"));
    }

    void theYamlBeginsAtTheLeft()
    {
        Desk desk;
        desk.document.startFrom("trainer:\n  precision: 16-mixed\n# " + std::string(300, 'x') + "\n",
                                QStringLiteral("wide.yaml"));
        auto* editor = desk.find<YamlEditor>();
        editor->resize(260, 300);
        editor->goTo(3, 290);
        QVERIFY(editor->horizontalScrollBar()->value() > 0);

        QVERIFY(desk.document.setField("trainer.precision", "bf16-mixed"));

        QCOMPARE(editor->horizontalScrollBar()->value(), 0);
        editor->goTo(2, 14);
        QCOMPARE(editor->horizontalScrollBar()->value(), 0);
    }

    void withoutAnEngineTheStartSaysWhatToDo()
    {
        Desk desk;
        auto text = std::string(kUnscalesItself);
        text.replace(text.find("fused: true"), 11, "fused: false");
        desk.document.startFrom(text, QStringLiteral("good.yaml"));

        QTRY_COMPARE(desk.engine.state(), EngineLoader::State::Missing);

        QVERIFY(desk.find<DocumentHeader>()->startHindrance().contains(QStringLiteral("Build it.")));
    }
};

QTEST_MAIN(TestComposePage)
#include "tst_compose_page.moc"
