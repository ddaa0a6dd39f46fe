#include "engine/history/run_reader.h"
#include "engine/history/run_writer.h"
#include "engine/recipe/setup_file.h"
#include "tests/engine/cli/command_line.h"

#include <QJsonArray>
#include <QJsonObject>
#include <QTemporaryDir>
#include <QTest>

#include <fstream>

using namespace mantissa;
using namespace mantissa::test;

namespace {

constexpr const char* kSetup = "seed_everything: 7\n"
                               "trainer: {max_steps: 20, max_epochs: 3}  # a comment\n"
                               "model: {class_path: mantissa.MLP}\n"
                               "data: {class_path: mantissa.FashionMNIST}\n"
                               "optimizer: {class_path: torch.optim.AdamW}\n";

} // namespace

class TestResumeCommand : public QObject {
    Q_OBJECT

private:
    QTemporaryDir m_folder;
    QString m_history;

    CommandResult trainFirst()
    {
        const QString file = m_folder.filePath(QStringLiteral("base.yaml"));
        std::ofstream(file.toStdString()) << kSetup;
        return runCommand({"train", file, "--history", m_history, "--json"}, QStringLiteral("steps=20"));
    }
    CommandResult resume(const QStringList& arguments)
    {
        return runCommand(QStringList{"resume"} + arguments + QStringList{"--history", m_history, "--json"},
                          QStringLiteral("steps=30"));
    }

private slots:
    void init()
    {
        static int number = 0;
        m_history = m_folder.filePath(QStringLiteral("history-%1").arg(++number));
    }

    void theNewRunHasItsParentItsNameAndItsSteps()
    {
        const auto first = trainFirst().lastLine()["run"].toString();

        const auto result = resume({"base", "--to", "40", "--set", "optimizer.init_args.lr=0.5"});

        QVERIFY2(result.exitCode == 0, result.err);
        const auto shown =
            runCommand({"show", result.lastLine()["run"].toString(), "--history", m_history, "--json"});
        QCOMPARE(shown.json()["name"].toString(), QStringLiteral("base-from-20"));
        QCOMPARE(shown.json()["parent"]["run"].toString(), first);
        QCOMPARE(shown.json()["parent"]["step"].toInt(), 19);
        const auto text = shown.json()["setup"].toString();
        QVERIFY2(text.contains("# a comment"), qPrintable(text));
        const auto setup = readSetup(text.toStdString()).setup;
        QCOMPARE(setup.root()["trainer"]["max_steps"].asInteger(), std::int64_t{40});
        QVERIFY(!setup.root()["trainer"]["max_epochs"].isSet()); // It would end the run before.
        QCOMPARE(setup.root()["optimizer"]["init_args"]["lr"].asDouble(), 0.5);
        QCOMPARE(runCommand({"runs", "--history", m_history, "--json"}).json().array().size(), 2);
    }

    void aRunThatGoesOnAgainKeepsAShortName()
    {
        QVERIFY(trainFirst().exitCode == 0);
        QVERIFY(resume({"base", "--to", "40"}).exitCode == 0);

        const auto result = resume({"base-from-20", "--to", "60"});

        QVERIFY2(result.exitCode == 0, result.err);
        QVERIFY(result.err.contains("base-from-30"));
    }

    void fewerStepsThanThereAreAreRefused()
    {
        QVERIFY(trainFirst().exitCode == 0);

        const auto result = resume({"base", "--to", "20"});

        QCOMPARE(result.exitCode, 3);
        QVERIFY2(result.err.contains("holds 20 steps already"), result.err);
    }

    void aStepWithoutACheckpointSaysWhereThereIsOne()
    {
        QVERIFY(trainFirst().exitCode == 0);

        const auto result = resume({"base", "--from", "7"});

        QCOMPARE(result.exitCode, 3);
        QVERIFY2(result.err.contains("no checkpoint at step 7") && result.err.contains("19"), result.err);
    }

    void aRunWithoutACheckpointSaysHowToHaveOne()
    {
        const auto first = trainFirst().lastLine()["folder"].toString();
        std::filesystem::remove_all(std::filesystem::path(first.toStdString()) / "checkpoints");

        const auto result = resume({"base"});

        QCOMPARE(result.exitCode, 3);
        QVERIFY2(result.err.contains("every_n_train_steps"), result.err);
    }

    void aRunThatStillTrainsIsLeftAlone()
    {
        RunStart start;
        start.history = m_history.toStdString();
        start.name = "busy";
        start.setupText = kSetup;
        const auto writer = std::move(*RunWriter::create(start));
        writer->setState(RunState::Running);
        const auto reader = std::move(*RunReader::open(writer->folder()));
        QTRY_COMPARE(reader->summary()->state, RunState::Running);

        const auto result = resume({"busy"});

        QCOMPARE(result.exitCode, 5);
        QVERIFY2(result.err.contains("still training"), result.err);
    }

    void aRewindToBeforeEveryCheckpointSaysWhereThereIsOne()
    {
        QVERIFY(trainFirst().exitCode == 0);

        const auto result = runCommand({"rewind", "base", "--to", "10", "--history", m_history});

        QCOMPARE(result.exitCode, 3);
        QVERIFY2(result.err.contains("no checkpoint at step 9"), result.err);
    }

    void aRewindComparesTheStepsThatBothHave()
    {
        QVERIFY(trainFirst().exitCode == 0);

        const auto result = runCommand({"rewind", "base", "--to", "25", "--history", m_history, "--json"},
                                       QStringLiteral("steps=20"));

        QVERIFY2(result.exitCode == 0, result.err);
        QCOMPARE(result.lastLine()["same"].toBool(), true);
        QCOMPARE(result.lastLine()["steps"].toInt(), 20);
        QVERIFY(result.lastLine()["origin"].isNull());
    }

    void anUnknownRunIsAnError() { QCOMPARE(resume({"nobody"}).exitCode, 3); }
};

QTEST_GUILESS_MAIN(TestResumeCommand)
#include "tst_resume_command.moc"
