#include "engine/recipe/fields.h"
#include "engine/recipe/presets.h"
#include "engine/recipe/run_plan.h"
#include "engine/recipe/setup_file.h"
#include "engine/rules/check.h"
#include "ui/models/effective_model.h"
#include "ui/models/field_group.h"
#include "ui/models/findings_model.h"
#include "ui/models/palette_block.h"

#include <QAbstractItemModelTester>
#include <QTest>

#include <algorithm>

using namespace mantissa;
using namespace mantissa::ui;

namespace {

const char* const kUnscalesItself = R"(trainer:
  precision: 16-mixed
  strategy: fsdp
  accelerator: gpu
  devices: 2
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

const char* const kTrains = R"(trainer:
  max_epochs: 1
model:
  class_path: mantissa.MLP
data:
  class_path: mantissa.FashionMNIST
optimizer:
  class_path: torch.optim.SGD
)";

Setup setupOf(const char* yaml)
{
    return readSetup(yaml).setup;
}

CheckReport reportOf(const Setup& setup)
{
    return check(setup, *targetOf(setup));
}

const PaletteBlock* blockNamed(const std::vector<PaletteGroup>& groups, const std::string& group,
                               const std::string& name)
{
    for (const auto& candidate : groups)
        for (const auto& block : candidate.blocks)
            if (candidate.title == group && block.name == name)
                return &block;
    return nullptr;
}

} // namespace

class TestComposeModels : public QObject {
    Q_OBJECT

private slots:
    void findingsAreRowsWithErrorsFirst()
    {
        FindingsModel model;
        const QAbstractItemModelTester tester(&model);

        model.setFindings(reportOf(setupOf(kUnscalesItself)).findings);

        QVERIFY(model.rowCount() > 0);
        QCOMPARE(model.index(0).data(FindingsModel::SeverityRole).toString(),
                 QStringLiteral("Will stop at step 1, at Unscale"));
        QCOMPARE(model.index(0).data(FindingsModel::StageRole).toString(), QStringLiteral("Unscale"));
        QVERIFY(!model.index(0).data(FindingsModel::FixesRole).toStringList().isEmpty());
        model.setFindings({});
        QCOMPARE(model.rowCount(), 0);
    }

    void whatWasAskedStandsBesideWhatIsInEffect()
    {
        EffectiveModel model;
        const QAbstractItemModelTester tester(&model);
        const auto setup = setupOf(kUnscalesItself);

        model.setPlan(setup, makeStepPlan(setup));

        QStringList rows;
        for (int row = 0; row < model.rowCount(); ++row)
            rows << model.index(row, 0).data().toString() + QLatin1Char('|')
                    + model.index(row, 1).data().toString();
        QVERIFY2(rows.contains(QStringLiteral("precision|16-mixed")),
                 qPrintable(rows.join(QLatin1Char('\n'))));
        QVERIFY(std::any_of(rows.begin(), rows.end(),
                            [](const QString& row) { return row.endsWith(QStringLiteral("|–")); }));
    }

    void aBlockOfTheSetupIsOn()
    {
        const auto setup = setupOf(kUnscalesItself);
        const auto groups = paletteGroups(setup);
        const auto target = *targetOf(setup);

        QVERIFY(judgeBlock(*blockNamed(groups, "Precision", "16-mixed"), setup, target).on);
        QVERIFY(!judgeBlock(*blockNamed(groups, "Precision", "32-true"), setup, target).on);
        QVERIFY(judgeBlock(*blockNamed(groups, "Optimizer", "AdamW"), setup, target).on);
    }

    void whatTheTargetRefusesSaysWhy()
    {
        const auto setup = setupOf(kUnscalesItself);
        const auto groups = paletteGroups(setup);

        const auto verdict = judgeBlock(*blockNamed(groups, "Precision", "64-true"), setup, *targetOf(setup));

        QCOMPARE(verdict.sign, BlockVerdict::Sign::Refused);
        QVERIFY(!verdict.why.empty());
    }

    void whatThisEngineCannotTrainIsCheckedOnly()
    {
        const auto setup = setupOf(kTrains);
        const auto groups = paletteGroups(setup);

        const auto verdict =
            judgeBlock(*blockNamed(groups, "Precision", "transformer-engine"), setup, *targetOf(setup));

        QCOMPARE(verdict.sign, BlockVerdict::Sign::CheckedOnly);
        QVERIFY(!verdict.why.empty());
    }

    void anotherOptimizerDropsWhatItDoesNotKnow()
    {
        auto setup = setupOf(kUnscalesItself);
        QVERIFY(setup.set("optimizer.init_args.betas", ValueList{0.9, 0.95}));

        const auto after = applyEdits(setup, blockNamed(paletteGroups(setup), "Optimizer", "SGD")->edits);

        QVERIFY(after);
        QVERIFY(!after->has("optimizer.init_args.betas"));
        QCOMPARE(after->at("optimizer.init_args.lr").asDouble(), 3e-4);
    }

    void whatAScheduleCannotDoWithoutComesWithIt()
    {
        const auto setup = setupOf(kTrains);
        const auto stepped = applyEdits(setup, blockNamed(paletteGroups(setup), "Schedule", "StepLR")->edits);
        QVERIFY(stepped);
        QVERIFY(stepped->has(std::string(field::scheduleStepSize.path)));
        QVERIFY(planRun(*stepped));

        // The end of a cosine is the end of training, where the set-up has one.
        auto ends = setup;
        QVERIFY(ends.set(field::maxSteps.path, 300));
        const auto cosine =
            applyEdits(ends, blockNamed(paletteGroups(ends), "Schedule", "WarmupCosine")->edits);
        QVERIFY(cosine);
        QVERIFY(!cosine->has(std::string(field::scheduleTotal.path)));
        QCOMPARE(planRun(*cosine)->schedule.total, std::int64_t{300});
    }

    void anotherModelLeavesNothingOfTheOneBefore()
    {
        auto setup = setupOf(kTrains);
        QVERIFY(setup.set(field::modelHidden.path, 64));
        QVERIFY(setup.set(field::dataFolder.path, "elsewhere"));

        const auto after = applyEdits(setup, blockNamed(paletteGroups(setup), "Model", "ConvNet")->edits);

        QVERIFY(after);
        QVERIFY(!after->has(std::string(field::modelHidden.path)));
        QVERIFY(after->has(std::string(field::dataFolder.path)));
    }

    void settingsOfAFormStandUnderWhatTheyAreAbout()
    {
        const auto groups =
            fieldGroups({&field::optimizerClass, &field::scheduleClass, &field::learningRate,
                         &field::earlyStoppingMonitor, &field::scheduleOnSkip, &field::maxSteps});

        QStringList told;
        for (const auto& group : groups)
            told << group.title + QLatin1Char(' ') + QString::number(group.fields.size());
        QCOMPARE(told.join(QLatin1Char('|')),
                 QStringLiteral("Optimizer 2|Schedule 2|EarlyStopping 1|Trainer 1"));
    }

    void aCallbackGoesInAndOut()
    {
        const auto setup = setupOf(kUnscalesItself);
        const auto groups = paletteGroups(setup);
        const auto* block = blockNamed(groups, "Callbacks", "EarlyStopping");

        const auto with = applyEdits(setup, block->edits);
        QVERIFY(with);
        QVERIFY(judgeBlock(*block, *with, *targetOf(setup)).on);
        const auto without = applyEdits(*with, block->removal);

        QVERIFY(without);
        QVERIFY(!judgeBlock(*block, *without, *targetOf(setup)).on);
    }
};

QTEST_MAIN(TestComposeModels)
#include "tst_compose_models.moc"
