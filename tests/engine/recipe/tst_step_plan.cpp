#include "engine/recipe/run_plan.h"
#include "engine/recipe/setup_file.h"
#include "engine/recipe/step_plan.h"

#include <QDir>
#include <QTest>

#include <fstream>

using namespace mantissa;

namespace {

const QString kFolder = QStringLiteral(TEST_DATA "/plans");

StepPlan planOf(const QString& name)
{
    const auto text = readSetupText((kFolder + QLatin1Char('/') + name).toStdString());
    return text ? makeStepPlan(readSetup(*text).setup) : StepPlan{};
}

} // namespace

class TestStepPlan : public QObject {
    Q_OBJECT

private slots:
    void looksAsItWasDrawn_data()
    {
        QTest::addColumn<QString>("name");
        const auto names = QDir(kFolder).entryList({QStringLiteral("*.yaml")});
        QVERIFY(names.size() >= 12);
        for (const auto& name : names)
            QTest::newRow(qPrintable(name)) << name;
    }

    void looksAsItWasDrawn()
    {
        QFETCH(QString, name);
        auto golden = kFolder.toStdString() + "/" + name.toStdString();
        golden.replace(golden.size() - 4, 4, "txt");

        const auto printed = printPlan(planOf(name));

        if (qEnvironmentVariableIsSet("MANTISSA_WRITE_GOLDENS"))
            std::ofstream(golden) << printed;
        const auto wanted = readSetupText(golden);
        QVERIFY2(wanted, golden.c_str());
        QCOMPARE(QString::fromStdString(printed), QString::fromStdString(*wanted));
    }

    void everySetupThatIsDrawnHereIsOneThatRuns_data() { looksAsItWasDrawn_data(); }

    void everySetupThatIsDrawnHereIsOneThatRuns()
    {
        QFETCH(QString, name);
        const auto text = readSetupText((kFolder + QLatin1Char('/') + name).toStdString());
        QVERIFY(text);

        const auto plan = planRun(readSetup(*text).setup);

        QVERIFY2(plan, plan ? "" : plan.error().message.c_str());
        QCOMPARE(plan->ranks, planOf(name).worldSize);
    }

    void hasElevenCardsWhateverTheSetup()
    {
        const auto empty = makeStepPlan(Setup());
        const auto nonsense =
            makeStepPlan(readSetup("trainer: 5\nmodel: [1]\noptimizer: x\nmantissa: {ranks: many}\n").setup);

        QCOMPARE(empty.stages.size(), std::size_t{11});
        QCOMPARE(nonsense.stages.size(), std::size_t{11});
        QVERIFY(empty.comms.empty());
    }

    void aWrittenSettingIsToldFromADefault()
    {
        const auto plan = planOf(QStringLiteral("single-16-mixed-fused.yaml"));
        const auto& chips =
            plan.stages[static_cast<std::size_t>(Stage::Optimizer) - static_cast<std::size_t>(Stage::Data)]
                .chips;

        QCOMPARE(chips[1].path, std::string("optimizer.init_args.fused"));
        QVERIFY(chips[1].asked);
        QVERIFY(!chips[3].asked); // No schedule was written.
    }
};

QTEST_APPLESS_MAIN(TestStepPlan)
#include "tst_step_plan.moc"
