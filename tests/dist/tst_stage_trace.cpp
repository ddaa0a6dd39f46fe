#include "engine/history/run_reader.h"
#include "engine/recipe/setup_file.h"
#include "engine/recipe/step_plan.h"
#include "tests/support/real_runs.h"

#include <QDir>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QtTest>

using namespace mantissa;
using namespace std::chrono_literals;

namespace {

/// The stages that the plan of the step has, as ids.
QStringList plannedStages(const Setup& setup)
{
    QStringList ids;
    for (const auto& stage : makeStepPlan(setup).stages) {
        if (stage.present)
            ids << QString::fromUtf8(stageId(stage.stage).data());
    }
    return ids;
}

/// The stages of the trace that a run stored, without the one that only records.
QStringList tracedStages(const std::filesystem::path& folder)
{
    QStringList ids;
    const auto events = (*RunReader::open(folder))->events();
    for (const auto& event : *events) {
        if (event.kind != "stage_trace")
            continue;
        const auto detail = QJsonDocument::fromJson(QByteArray::fromStdString(event.detail));
        for (const auto& id : detail["stages"].toArray())
            ids << id.toString();
    }
    ids.removeAll("record");
    return ids;
}

} // namespace

class TestStageTrace : public QObject {
    Q_OBJECT

private slots:
    void aRunGoesThroughTheStagesOfItsPlan_data()
    {
        QTest::addColumn<QString>("file");
        const QDir folder(TEST_DATA "/plans");
        for (const auto& name : folder.entryList({"*.yaml"}))
            QTest::newRow(qPrintable(name)) << folder.filePath(name);
    }
    void aRunGoesThroughTheStagesOfItsPlan()
    {
        QFETCH(const QString, file);
        const auto text = readSetupText(file.toStdString());
        QVERIFY(text);
        const auto read = readSetup(*text);
        auto plan = planRun(read.setup);
        QVERIFY2(plan, plan ? "" : plan.error().message.c_str());
        plan->maxSteps = 1;
        plan->checkpoints.atEnd = false;
        if (auto* data = std::get_if<TextPlan>(&plan->data))
            data->file = TEST_DATA "/../../LICENSE";
        RealRun real(*plan);
        QVERIFY(real.run->wait(60s));

        const auto summary = real.run->summary();
        QVERIFY2(summary.state == RunState::Finished, summary.message.c_str());
        QCOMPARE(tracedStages(real.run->folder()), plannedStages(read.setup));
    }
};

QTEST_GUILESS_MAIN(TestStageTrace)
#include "tst_stage_trace.moc"
