#include "engine/history/run_reader.h"
#include "tests/engine/cli/command_line.h"

#include <QJsonArray>
#include <QJsonObject>
#include <QTemporaryDir>
#include <QTest>

#include <fstream>
#include <signal.h>

using namespace mantissa;
using namespace mantissa::test;

namespace {

constexpr const char* kGood = "seed_everything: 7\n"
                              "trainer: {precision: 16-mixed, max_steps: 20}  # a comment\n"
                              "model: {class_path: mantissa.MLP}\n"
                              "data: {class_path: mantissa.FashionMNIST}\n"
                              "optimizer: {class_path: torch.optim.AdamW}\n";

/// The Trainer refuses to clip what a fused optimizer unscales itself; this engine can.
constexpr const char* kRefused = "trainer:\n"
                                 "  precision: 16-mixed\n"
                                 "  max_steps: 20\n"
                                 "  gradient_clip_val: 1.0\n"
                                 "model: {class_path: mantissa.MLP}\n"
                                 "data: {class_path: mantissa.FashionMNIST}\n"
                                 "optimizer: {class_path: torch.optim.AdamW, init_args: {fused: true}}\n";

} // namespace

class TestTrainCommand : public QObject {
    Q_OBJECT

private:
    QTemporaryDir m_folder;
    QString m_history;

    QString setupFile(const char* text)
    {
        const QString file = m_folder.filePath(QStringLiteral("setup.yaml"));
        std::ofstream(file.toStdString()) << text;
        return file;
    }
    QStringList train(const char* text, const QStringList& more = {})
    {
        return QStringList{"train", setupFile(text), "--history", m_history} + more;
    }

private slots:
    void init()
    {
        static int number = 0;
        m_history = m_folder.filePath(QStringLiteral("history-%1").arg(++number));
    }

    void theLastLineSumsUpTheRun()
    {
        const auto result =
            runCommand(train(kGood, {"--name", "first", "--json"}), QStringLiteral("steps=30"));

        QCOMPARE(result.exitCode, 0);
        const auto run = result.lastLine().object();
        QCOMPARE(run["state"].toString(), QStringLiteral("finished"));
        QCOMPARE(run["steps"].toInt(), 30);
        QCOMPARE(run["skipped"].toInt(), 1);
        QVERIFY(run["final"].toObject()["loss"].isDouble());
        const auto reader = RunReader::open(run["folder"].toString().toStdString());
        QVERIFY(reader);
        QCOMPARE((*reader)->summary()->name, std::string("first"));
        QCOMPARE((*reader)->summary()->id, run["run"].toString().toStdString());
        QCOMPARE((*reader)->setup()->yaml, std::string(kGood));
        QVERIFY(QJsonDocument::fromJson((*reader)->setup()->findings.c_str()).isArray());
    }

    void plainLinesTellTheProgressWhereThereIsNoTerminal()
    {
        const auto result = runCommand(train(kGood), QStringLiteral("steps=30"));

        QCOMPARE(result.exitCode, 0);
        QVERIFY2(result.err.contains("step 30/30  loss "), result.err);
        QVERIFY(!result.err.contains('\r') && !result.err.contains('\033'));
        QVERIFY(result.out.contains("finished after 30 steps, 1 skipped"));
    }

    void aTargetThatRefusesKeepsTheRunFromStarting()
    {
        const auto result = runCommand(train(kRefused, {"--json"}));

        QCOMPARE(result.exitCode, 1);
        QCOMPARE(result.lastLine()["state"].toString(), QStringLiteral("refused"));
        QVERIFY(!result.lastLine()["findings"].toArray().isEmpty());
        QVERIFY2(result.err.contains("setup.yaml:7:"), result.err); // At the fused optimizer.
        QVERIFY(listRuns(m_history.toStdString())->empty());
    }

    void aModeLetsItStart()
    {
        const auto extended = runCommand(train(kRefused, {"--mode", "extended", "--json"}));
        const auto faithful = runCommand(train(kRefused, {"--mode", "faithful", "--json"}));

        QVERIFY2(extended.exitCode == 0 && faithful.exitCode == 0, extended.err);
        QCOMPARE(listRuns(m_history.toStdString())->size(), std::size_t{2});
    }

    void settingsAreChangedAndStoredAsChanged()
    {
        const auto result = runCommand(train(
            kRefused, {"--set", "optimizer.init_args.fused=false", "--set", "seed_everything=11", "--json"}));

        QVERIFY2(result.exitCode == 0, result.err);
        const auto reader = RunReader::open(result.lastLine()["folder"].toString().toStdString());
        const auto yaml = QByteArray::fromStdString((*reader)->setup()->yaml);
        QVERIFY2(yaml.contains("11") && yaml.contains("false") && !yaml.contains("fused: true"), yaml);
    }

    void aChangeThatCannotBeMadeIsAClearError()
    {
        const auto noValue = runCommand(train(kGood, {"--set", "trainer.max_steps"}));
        const auto inTheWay = runCommand(train(kGood, {"--set", "seed_everything.deep=1"}));

        QCOMPARE(noValue.exitCode, 2);
        QVERIFY(noValue.err.contains("path=value"));
        QCOMPARE(inTheWay.exitCode, 2);
    }

    void aFailedRunSaysWhereAndEndsWithOne()
    {
        const auto result = runCommand(train(kGood, {"--json"}), QStringLiteral("fail_at=5"));

        QCOMPARE(result.exitCode, 1);
        QCOMPARE(result.lastLine()["state"].toString(), QStringLiteral("failed"));
        QCOMPARE(result.err.count("Rank 1 failed"), 1);
        QVERIFY(result.err.contains("Halve the batch."));
    }

    void whatTheEngineThrowsIsOneLineAndAnExitCode()
    {
        const auto result = runCommand(train(kGood), QStringLiteral("start=throws"));

        QCOMPARE(result.exitCode, 1);
        QVERIFY2(result.err.contains("nobody expected this"), result.err);
        QCOMPARE(result.err.count('\n'), 1);
    }

    void theLastLineHasAStateWhateverHappens_data()
    {
        QTest::addColumn<QString>("change");
        QTest::addColumn<QString>("script");
        QTest::addColumn<int>("code");
        QTest::newRow("a change that is none") << "max_steps"
                                               << "" << 2;
        QTest::newRow("a path that is none") << "a[=1"
                                             << "" << 2;
        QTest::newRow("a value of another kind") << "trainer.max_steps=x"
                                                 << "" << 3;
        QTest::newRow("a stranger's model") << "model.class_path=my.Model"
                                            << "" << 5;
        QTest::newRow("no ranks") << "mantissa.ranks=0"
                                  << "" << 3;
        QTest::newRow("too many ranks") << "trainer.devices=100000"
                                        << "" << 5;
        QTest::newRow("too high a rate") << "optimizer.init_args.lr=1e38"
                                         << "" << 5;
        QTest::newRow("an unknown target") << "mantissa.target=trainer-9"
                                           << "" << 3;
        QTest::newRow("an engine that throws") << "seed_everything=1"
                                               << "start=throws" << 1;
    }
    void theLastLineHasAStateWhateverHappens()
    {
        QFETCH(const QString, change);
        QFETCH(const QString, script);
        QFETCH(const int, code);

        const auto result = runCommand(train(kGood, {"--json", "--set", change}), script);

        QVERIFY2(result.exitCode == code, result.err);
        const auto line = result.lastLine().object();
        QCOMPARE(line["state"].toString(), QStringLiteral("not_started"));
        QVERIFY(line["run"].isNull());
        QVERIFY(result.err.contains(line["message"].toString().toUtf8()));
        if (change.contains("devices"))
            QVERIFY2(
                result.err.contains("100000 ranks are asked for, and one machine here takes from 1 to 64"),
                result.err);
    }

    void anUnreadableFileAndHistoryHaveALastLineToo()
    {
        const auto none =
            runCommand({"train", m_folder.filePath("none.yaml"), "--json", "--history", m_history});
        const auto resume = runCommand({"resume", "none", "--json", "--history", m_history});

        QCOMPARE(none.exitCode, 3);
        QCOMPARE(none.lastLine()["state"].toString(), QStringLiteral("not_started"));
        QCOMPARE(resume.lastLine()["state"].toString(), QStringLiteral("not_started"));
    }

    void whatTheEngineLeavesOutIsToldAtTheStart()
    {
        const auto result = runCommand(
            train(kGood, {"--set", "trainer.callbacks[ModelCheckpoint].dirpath=elsewhere"}), "steps=30");

        QCOMPARE(result.exitCode, 0);
        QVERIFY2(result.err.contains("without what trainer.callbacks[ModelCheckpoint].dirpath asks for"),
                 result.err);
    }

    void aReaderThatGoesAwayDoesNotEndTheRun()
    {
        QProcess process;
        process.setProcessEnvironment(scriptedEngine(QStringLiteral("steps=60 per_step_ms=10")));
        process.start(QStringLiteral("bash"),
                      QStringList{"-c", "\"$0\" \"$@\" 2>&1 >/dev/null | head -n 1; exit ${PIPESTATUS[0]}",
                                  QStringLiteral(MANTISSA_CLI)}
                          + train(kGood));

        QVERIFY(process.waitForFinished(20'000));

        QCOMPARE(process.exitCode(), 0);
        const auto runs = *listRuns(m_history.toStdString());
        QCOMPARE(runs.size(), std::size_t{1});
        QCOMPARE(runs.front().state, RunState::Finished);
    }

    void aStepThatTakesTooLongIsLeftWithAnIntactHistory()
    {
        QProcess process;
        process.setProcessEnvironment(
            scriptedEngine(QStringLiteral("steps=100000 per_step_ms=20 stop=ignored")));
        process.start(QStringLiteral(MANTISSA_CLI), train(kGood, {"--grace", "0.3", "--json"}));
        QByteArray told;
        QTRY_VERIFY_WITH_TIMEOUT((told += process.readAllStandardError()).contains("step "), 10'000);

        kill(static_cast<pid_t>(process.processId()), SIGTERM);

        QVERIFY(process.waitForFinished(10'000));
        QCOMPARE(process.exitCode(), 130);
        told += process.readAllStandardError();
        QVERIFY2(told.contains("not through after 1 s"), told);
        const auto line = QJsonDocument::fromJson(process.readAllStandardOutput().trimmed()).object();
        QCOMPARE(line["state"].toString(), QStringLiteral("interrupted"));
        QVERIFY(line["steps"].toInt() > 0);
        const auto runs = *listRuns(m_history.toStdString());
        QVERIFY2(runs.front().error.empty(), runs.front().error.c_str());
        QCOMPARE(runs.front().state, RunState::Interrupted);
        QVERIFY(runs.front().steps > 0);
    }

    void aSignalStopsWithACheckpoint_data()
    {
        QTest::addColumn<int>("number");
        QTest::addRow("Ctrl+C") << SIGINT;
        QTest::addRow("terminate") << SIGTERM;
        QTest::addRow("hang up") << SIGHUP;
    }
    void aSignalStopsWithACheckpoint()
    {
        QFETCH(const int, number);
        QProcess process;
        process.setProcessEnvironment(scriptedEngine(QStringLiteral("steps=100000 per_step_ms=2")));
        process.start(QStringLiteral(MANTISSA_CLI), train(kGood, {"--json"}));
        QVERIFY(process.waitForStarted());
        QByteArray told;
        QTRY_VERIFY_WITH_TIMEOUT((told += process.readAllStandardError()).contains("step "), 10'000);

        kill(static_cast<pid_t>(process.processId()), number);

        QVERIFY(process.waitForFinished(10'000));
        QCOMPARE(process.exitStatus(), QProcess::NormalExit);
        QCOMPARE(process.exitCode(), 130);
        const auto run = QJsonDocument::fromJson(process.readAllStandardOutput()).object();
        QCOMPARE(run["state"].toString(), QStringLiteral("stopped"));
        const auto reader = RunReader::open(run["folder"].toString().toStdString());
        QCOMPARE((*reader)->checkpoints()->size(), std::size_t{1});
        QCOMPARE((*reader)->summary()->state, RunState::Stopped);
    }

    void aFileThatCannotBeReadEndsWithThree()
    {
        const auto missing = runCommand({"train", "/nowhere.yaml", "--history", m_history});
        const auto broken = runCommand(train("trainer: {precision: [\n"));

        QCOMPARE(missing.exitCode, 3);
        QVERIFY(missing.err.contains("/nowhere.yaml"));
        QCOMPARE(broken.exitCode, 3);
        QVERIFY2(broken.err.contains("setup.yaml:"), broken.err);
    }

    void aHistoryThatCannotBeWrittenIsAClearError()
    {
        const QString file = m_folder.filePath(QStringLiteral("a-file"));
        std::ofstream(file.toStdString()) << "x";

        const auto result = runCommand({"train", setupFile(kGood), "--history", file});

        QCOMPARE(result.exitCode, 3);
        QVERIFY(result.err.contains("a-file"));
    }
};

QTEST_GUILESS_MAIN(TestTrainCommand)
#include "tst_train_command.moc"
