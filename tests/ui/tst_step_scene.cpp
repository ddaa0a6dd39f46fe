#include "engine/recipe/presets.h"
#include "engine/recipe/setup_file.h"
#include "engine/rules/check.h"
#include "ui/diagram/bus_item.h"
#include "ui/diagram/stage_item.h"
#include "ui/diagram/step_scene.h"
#include "ui/diagram/step_view.h"

#include <QAccessible>
#include <QScrollBar>
#include <QTest>

#include <cmath>

using namespace mantissa;
using namespace mantissa::ui;

namespace {

std::string setupText(const std::string& precision, const std::string& strategy, int ranks,
                      const std::string& more = {})
{
    return "trainer:\n  precision: " + precision + "\n  strategy: " + strategy
        + "\n  devices: " + std::to_string(ranks) + "\n" + more
        + "model:\n  class_path: mantissa.MLP\ndata:\n  class_path: mantissa.FashionMNIST\noptimizer:\n  "
          "class_path: torch.optim.AdamW\n";
}

} // namespace

class TestStepScene : public QObject {
    Q_OBJECT

private slots:
    void theItemsShowThePlanAndNothingElse_data()
    {
        QTest::addColumn<QString>("yaml");
        for (const auto* precision : {"32-true", "16-true", "bf16-true", "16-mixed", "bf16-mixed"}) {
            for (const auto& [strategy, ranks] :
                 {std::pair{"auto", 1}, std::pair{"ddp", 2}, std::pair{"fsdp", 4}})
                QTest::addRow("%s %s", precision, strategy)
                    << QString::fromStdString(setupText(precision, strategy, ranks));
        }
        QTest::newRow("norm clipping")
            << QString::fromStdString(setupText("16-mixed", "ddp", 2, "  gradient_clip_val: 1.0\n"));
        QTest::newRow("value clipping, accumulation") << QString::fromStdString(setupText(
            "bf16-mixed", "fsdp", 8,
            "  gradient_clip_val: 0.5\n  gradient_clip_algorithm: value\n  accumulate_grad_batches: 4\n"));
        for (const auto& preset : presets())
            QTest::addRow("preset %s", preset.id.c_str()) << QString::fromStdString(preset.yaml);
        QTest::newRow("empty") << QString();
    }

    void theItemsShowThePlanAndNothingElse()
    {
        QFETCH(QString, yaml);
        const auto setup = readSetup(yaml.toStdString()).setup;
        const auto plan = makeStepPlan(setup);
        StepScene scene;

        scene.setPlan(plan, check(setup, *targetOf(setup)).findings);

        QCOMPARE(QString::fromStdString(printPlan(scene.shownPlan())),
                 QString::fromStdString(printPlan(plan)));
    }

    void cardsDoNotOverlap_data()
    {
        QTest::addColumn<QSizeF>("view");
        QTest::newRow("small window") << QSizeF(886, 367);
        QTest::newRow("large window") << QSizeF(1360, 720);
        QTest::newRow("too small") << QSizeF(500, 200);
    }

    void cardsDoNotOverlap()
    {
        QFETCH(QSizeF, view);
        StepScene scene;
        scene.setPlan(makeStepPlan(readSetup(setupText("16-mixed", "fsdp", 2)).setup), {});
        scene.setViewSize(view);

        for (const auto stage : kCardStages) {
            const auto& card = scene.stage(stage);
            QVERIFY(scene.sceneRect().contains(QRectF(card.pos(), QSizeF(108, 100))));
            for (const auto other : kCardStages)
                if (stage != other)
                    QVERIFY(!QRectF(card.pos(), QSizeF(108, 100))
                                 .intersects(QRectF(scene.stage(other).pos(), QSizeF(108, 100))));
        }
    }

    void aPreviewMovesNothing()
    {
        const auto before = readSetup(setupText("16-mixed", "fsdp", 2)).setup;
        const auto after = readSetup(setupText("bf16-mixed", "fsdp", 2)).setup;
        StepScene scene;
        scene.setPlan(makeStepPlan(before), {});
        std::vector<QPointF> places;
        for (const auto stage : kCardStages)
            places.push_back(scene.stage(stage).pos());

        scene.setPreview(FixPreview{QStringLiteral("bf16-mixed"), {}, makeStepPlan(after), {}});

        std::size_t index = 0;
        for (const auto stage : kCardStages)
            QCOMPARE(scene.stage(stage).pos(), places[index++]);
    }

    void arrowsOfTheKeyboardFollowTheStep()
    {
        StepScene scene;
        scene.setPlan(makeStepPlan(readSetup(setupText("16-mixed", "fsdp", 2)).setup), {});
        StepView view(scene);
        view.resize(900, 400);
        view.show();
        view.focusStage(Stage::Scale);

        QTest::keyClick(&view, Qt::Key_Right);
        QCOMPARE(view.currentStage(), Stage::Backward);
        QTest::keyClick(&view, Qt::Key_Right);
        QCOMPARE(view.currentStage(), Stage::Reduce);
        QTest::keyClick(&view, Qt::Key_Up);
        QCOMPARE(view.currentStage(), Stage::Loss);
        QTest::keyClick(&view, Qt::Key_Left);
        QCOMPARE(view.currentStage(), Stage::Forward);
    }

    void aScreenReaderSeesElevenNamedStages()
    {
        StepScene scene;
        scene.setPlan(makeStepPlan(readSetup(setupText("16-mixed", "fsdp", 2)).setup), {});
        StepView view(scene);

        auto* spoken = QAccessible::queryAccessibleInterface(&view);

        QVERIFY(spoken);
        QCOMPARE(spoken->childCount(), 11);
        QVERIFY(
            spoken->child(2)->text(QAccessible::Name).startsWith(QStringLiteral("Forward, stage 3 of 11")));
        QCOMPARE(spoken->indexOfChild(spoken->child(4)), 4);
        QCOMPARE(spoken->child(10), QAccessible::queryAccessibleInterface(&scene.stage(Stage::UpdateScale)));
    }

    void aStageTellsWhatItIs()
    {
        const auto setup = readSetup(setupText("16-mixed", "fsdp", 2, "  gradient_clip_val: 1.0\n")).setup;
        StepScene scene;

        scene.setPlan(makeStepPlan(setup), check(setup, *targetOf(setup)).findings);

        const auto words = scene.stage(Stage::Clip).spokenName();
        QVERIFY2(words.startsWith(QStringLiteral("Clip, stage 9 of 11")), qPrintable(words));
        QVERIFY2(words.contains(QStringLiteral("finding")), qPrintable(words));
    }

    void aBadgeWithWordsLeavesTheTitleItsLine()
    {
        StageItem item(Stage::Clip);
        for (const auto& badge : {StageBadge{Tone::Stop, QStringLiteral("Stops at step 1"), 1, false},
                                  StageBadge{Tone::Stop, {}, 0, true}}) {
            item.setBadge(badge);
            QVERIFY(item.badgeRect().bottom() <= 6.0); // There the title's line begins.
        }
    }

    void communicationsInOneGapStandApartAndAreNamedInTheirOrder()
    {
        const auto yaml = setupText("16-mixed", "fsdp", 4);
        const auto setup = applyEdits(
            readSetup(yaml).setup,
            {Edit{EditOp::Set, "trainer.strategy.class_path", "lightning.pytorch.strategies.FSDPStrategy"},
             Edit{EditOp::Set, "trainer.strategy.init_args.sharding_strategy", "HYBRID_SHARD"}});
        QVERIFY(setup);
        StepScene scene;
        scene.setPlan(makeStepPlan(*setup), {});
        scene.setViewSize({886, 367});

        const BusItem* scatter = nullptr;
        const BusItem* reduce = nullptr;
        for (const auto* item : scene.items()) {
            const auto* bus = dynamic_cast<const BusItem*>(item);
            if (bus && bus->shown().operation == "reduce-scatter")
                scatter = bus;
            else if (bus && bus->shown().operation == "all-reduce")
                reduce = bus;
        }

        QVERIFY(scatter && reduce);
        QVERIFY(std::abs(scatter->place().x - reduce->place().x) >= 11.0);
        QCOMPARE(scatter->place().x > reduce->place().x,
                 scatter->place().labelLeft > reduce->place().labelLeft);
    }

    void theStageWhereARunFailedIsMarkedAndTheLaterOnesWereNotReached()
    {
        StepScene scene;
        scene.setPlan(makeStepPlan(readSetup(setupText("16-mixed", "fsdp", 2)).setup), {});

        scene.setFailure(StepFailure{Stage::Backward, QStringLiteral("Rank 1 ended")});

        QCOMPARE(scene.stage(Stage::Backward).badge()->words, QStringLiteral("Rank 1 ended"));
        QVERIFY(!scene.stage(Stage::Reduce).badge());
        for (const auto stage : kCardStages)
            QCOMPARE(scene.stage(stage).opacity() < 1.0, stage > Stage::Backward);

        scene.setFailure({});
        QVERIFY(!scene.stage(Stage::Backward).badge());
        QCOMPARE(scene.stage(Stage::Optimizer).opacity(), 1.0);
    }

    void aSmallViewShowsTheWholeStep()
    {
        StepScene scene;
        scene.setPlan(makeStepPlan(readSetup(setupText("16-mixed", "fsdp", 2)).setup), {});
        StepView view(scene);
        for (const QSize size : {QSize(640, 320), QSize(888, 384), QSize(1500, 700)}) {
            view.resize(size);
            view.show();
            QVERIFY(QTest::qWaitForWindowExposed(&view));
            QVERIFY(!view.horizontalScrollBar()->isVisible());
            for (const auto stage : kCardStages) {
                const auto box = view.mapFromScene(scene.stage(stage).sceneBoundingRect()).boundingRect();
                QVERIFY2(view.rect().contains(box), qPrintable(scene.stage(stage).spokenName()));
            }
        }
    }
};

QTEST_MAIN(TestStepScene)
#include "tst_step_scene.moc"
