#include "engine/history/run_writer.h"
#include "tests/engine/cli/command_line.h"

#include <QJsonArray>
#include <QJsonObject>
#include <QTemporaryDir>
#include <QTest>

#include <cmath>
#include <filesystem>
#include <fstream>

using namespace mantissa;
using namespace mantissa::test;

namespace {

/// A finished run of three steps over two ranks.
std::string storedRun(const QTemporaryDir& history, const std::string& name)
{
    RunStart start;
    start.history = history.path().toStdString();
    start.name = name;
    start.setupText = "seed_everything: 1\n";
    start.effective = R"({"precision":"16-mixed"})";
    start.series = {{"val_loss", "1"}, {"loss", "1"}, {"found_inf", "1", 0}, {"found_inf", "1", 1}};
    auto writer = std::move(*RunWriter::create(start));
    const double values[] = {0.1, std::nan(""), -INFINITY};
    for (int step = 0; step < 3; ++step)
        writer->append(std::vector<Sample>{{1, step, 0.5 * step, values[step]},
                                           {2, step, 0.5 * step, 0.0},
                                           {3, step, 0.5 * step, INFINITY}});
    writer->append(
        RunEvent{1, 0.5, "skipped", "optimizer", -1, {}, "Step 1 was skipped.", R"({"scale":1024})"});
    writer->append(CheckpointRecord{1, "checkpoints/step-1", 4096, "aa", false});
    writer->append(CheckpointRecord{2, "checkpoints/step-2", 4096, "bb"});
    (void)writer->finish(RunState::Finished, 2);
    return writer->id();
}

} // namespace

class TestHistoryCommands : public QObject {
    Q_OBJECT

private slots:
    void runsAreListedNewestFirstAsJson()
    {
        QTemporaryDir history;
        const auto id = storedRun(history, "one");

        const auto result = runCommand({"runs", "--json", "--history", history.path()});

        QCOMPARE(result.exitCode, 0);
        const auto list = result.json().array();
        QCOMPARE(list.size(), 1);
        const auto run = list[0].toObject();
        QCOMPARE(run["run"].toString().toStdString(), id);
        QCOMPARE(run["name"].toString(), QStringLiteral("one"));
        QCOMPARE(run["state"].toString(), QStringLiteral("finished"));
        QCOMPARE(run["steps"].toInt(), 3);
        QVERIFY(run["folder"].toString().startsWith(history.path()));
        QVERIFY(!run["started"].toString().isEmpty() && !run["host"].toString().isEmpty());
    }

    void aHistoryThatIsNotThereYetHasNoRuns()
    {
        QTemporaryDir history;

        const auto result = runCommand({"runs", "--json", "--history", history.path() + "/none"});

        QCOMPARE(result.exitCode, 0);
        QCOMPARE(result.out, QByteArray("[]\n"));
        QVERIFY(!std::filesystem::exists(history.path().toStdString() + "/none"));
    }

    void showGivesEveryPointInFullPrecision()
    {
        QTemporaryDir history;
        const auto id = QString::fromStdString(storedRun(history, "one"));

        const auto result = runCommand({"show", id.left(5), "--json", "--history", history.path()});

        QCOMPARE(result.exitCode, 0);
        const auto run = result.json().object();
        QCOMPARE(run["run"].toString(), id);
        const auto loss = run["series"].toObject()["loss"].toArray();
        QCOMPARE(loss.size(), 1);
        QCOMPARE(loss[0].toObject()["rank"].toInt(), -1);
        QCOMPARE(loss[0].toObject()["step"].toArray(), (QJsonArray{0, 1, 2}));
        QCOMPARE(loss[0].toObject()["value"].toArray(), (QJsonArray{0.1, "NaN", "-Infinity"}));
        const auto found = run["series"].toObject()["found_inf"].toArray();
        QCOMPARE(found.size(), 2);
        QCOMPARE(found[1].toObject()["rank"].toInt(), 1);
        QCOMPARE(found[1].toObject()["value"].toArray()[0].toString(), QStringLiteral("Infinity"));
        const auto event = run["events"].toArray()[0].toObject();
        QCOMPARE(event["kind"].toString(), QStringLiteral("skipped"));
        QCOMPARE(event["detail"].toObject()["scale"].toInt(), 1024);
        QCOMPARE(run["setup"].toString(), QStringLiteral("seed_everything: 1\n"));
    }

    void showCanBeAskedForSomeSeries()
    {
        QTemporaryDir history;
        storedRun(history, "one");

        const auto some =
            runCommand({"show", "--series", "loss", "one", "--json", "--history", history.path()});
        const auto text =
            runCommand({"show", "one", "--series", "loss,found_inf", "--history", history.path()});
        const auto none = runCommand({"show", "one", "--series", "los", "--history", history.path()});

        QCOMPARE(some.exitCode, 0);
        QCOMPARE(some.json()["series"].toObject().keys(), QStringList{"loss"});
        QCOMPARE(text.out.count('\n'), 4 + 1 + 9);
        QCOMPARE(none.exitCode, 3);
        QVERIFY2(none.err.contains("It has val_loss, loss, found_inf."), none.err);
    }

    void showInWordsNamesTheCheckpointsAndWhatIsLeftOfThem()
    {
        QTemporaryDir history;
        storedRun(history, "one");

        const auto lines = runCommand({"show", "one", "--history", history.path()}).out.split('\n');

        QVERIFY(lines.contains("step 1  skipped  Step 1 was skipped."));
        QVERIFY(lines.contains("checkpoints/step-1  1           4096   removed"));
        QVERIFY(lines.contains("checkpoints/step-2  2           4096   "));
    }

    void anEmptyNameIsWrongUse()
    {
        QTemporaryDir history;
        storedRun(history, "one");

        for (const char* names : {",", "loss,", "loss,,found_inf", ""}) {
            const auto result =
                runCommand({"show", "one", QString("--series=") + names, "--history", history.path()});
            QCOMPARE(result.exitCode, 2);
        }
        const auto result = runCommand({"runs", "--history", ""});
        QCOMPARE(result.exitCode, 2);
        QVERIFY2(result.err.contains("It takes the folder that holds the runs"), result.err);
    }

    void namesCannotBreakTheTable()
    {
        QTemporaryDir history;
        storedRun(history, "two\nlines\tand \x1b[31mred \xE2\x80\xAE" + std::string(500, 'x'));

        const auto result = runCommand({"runs", "--history", history.path()});
        const auto id = QString::fromUtf8(result.out.split('\n').at(1).left(8));
        const auto shown = runCommand({"show", id, "--history", history.path()});

        QCOMPARE(result.out.count('\n'), 2);
        QVERIFY(result.out.split('\n').at(1).size() < 160);
        QVERIFY2(result.out.contains("two\\nlines\\tand \\x1b[31mred \\u202ex"), result.out);
        for (const auto& text : {result.out, shown.out})
            QVERIFY2(!text.contains('\x1b') && !text.contains('\t') && !text.contains("\xE2\x80\xAE"), text);
    }

    void aNewerFileEndsWithFourAndADamagedListGoesOn()
    {
        QTemporaryDir history;
        storedRun(history, "good");
        const std::filesystem::path folder = history.path().toStdString() + "/20261130-000000-new-aaaa2222";
        std::filesystem::copy(TEST_DATA "/history/version-1", folder);
        std::fstream file(folder / "run.sqlite", std::ios::in | std::ios::out | std::ios::binary);
        file.seekp(60); // user_version, four bytes, the highest first.
        file.write("\0\0\0\x09", 4);
        file.close();

        const auto shown = runCommand({"show", "aaaa2222", "--json", "--history", history.path()});
        const auto listed = runCommand({"runs", "--json", "--history", history.path()});

        QCOMPARE(shown.exitCode, 4);
        QVERIFY2(shown.err.contains("newer Mantissa"), shown.err);
        QCOMPARE(listed.exitCode, 0);
        QCOMPARE(listed.json().array().size(), 2);
        const auto bad = listed.json().array()[1].toObject();
        QCOMPARE(bad["state"].toString(), QStringLiteral("newer"));
        QVERIFY(bad["error"].toString().contains(QStringLiteral("version 9")));
        for (const char* unknown : {"name", "steps", "started", "ended", "host", "kind", "lost", "parent"})
            QVERIFY2(bad.contains(unknown) && bad[unknown].isNull(), unknown);
    }

    void aDamagedRunIsSaidToBeSoByEachCommand()
    {
        QTemporaryDir history;
        const auto id = QString::fromStdString(storedRun(history, "one"));
        for (const auto& entry : std::filesystem::directory_iterator(history.path().toStdString()))
            std::filesystem::remove(entry.path() / "run.sqlite");
        const QStringList where = {"--history", history.path()};

        const auto listed = runCommand(QStringList{"runs"} + where);

        QCOMPARE(listed.exitCode, 0);
        QVERIFY2(listed.out.contains("damaged"), listed.out);
        QVERIFY2(listed.err.contains("there is no run.sqlite in"), listed.err);
        for (const QStringList& command :
             {QStringList{"show", id}, QStringList{"resume", id}, QStringList{"rewind", id, "--to", "2"}}) {
            const auto result = runCommand(command + where);
            QCOMPARE(result.exitCode, 4);
            QVERIFY2(result.err.contains("there is no run.sqlite in"), result.err);
        }
    }

    void aHistoryThatCannotBeReadEndsWithThree()
    {
        QTemporaryDir place;
        const auto file = place.path() + "/file";
        std::ofstream(file.toStdString()) << "x";

        for (const QStringList& command :
             {QStringList{"runs"}, QStringList{"runs", "--json"}, QStringList{"show", "abc"},
              QStringList{"resume", "abc"}, QStringList{"rewind", "abc", "--to", "2"}}) {
            const auto result = runCommand(command + QStringList{"--history", file});
            QCOMPARE(result.exitCode, 3);
            QVERIFY(result.out.isEmpty());
            QVERIFY2(result.err.contains(("The history " + file + " cannot be read").toUtf8()), result.err);
        }
    }

    void anUnknownRunIsAClearError()
    {
        QTemporaryDir history;

        const auto result = runCommand({"show", "nothing", "--history", history.path()});

        QCOMPARE(result.exitCode, 3);
        QVERIFY(result.err.contains("nothing"));
    }

    void wrongUseEndsWithTwo()
    {
        QCOMPARE(runCommand({"show"}).exitCode, 2);
        QCOMPARE(runCommand({"runs", "--jsno"}).exitCode, 2);
    }

    void verifyTellsInsideFromOutsideFromNotHere()
    {
        QTemporaryDir folder;

        const auto inside = runCommand({"verify", folder.path(), "--json"}, QStringLiteral("verify=inside"));
        const auto outside = runCommand({"verify", folder.path()}, QStringLiteral("verify=outside"));
        const auto missing = runCommand({"verify", folder.path()}, QStringLiteral("verify=missing"));
        const auto nowhere = runCommand({"verify", folder.path() + "/none"}, QStringLiteral("verify=inside"));

        QCOMPARE(inside.exitCode, 0);
        QCOMPARE(inside.json()["inside"].toBool(), true);
        QCOMPARE(inside.json()["quantities"].toArray()[0].toObject()["worst"].toDouble(), 3e-7);
        QCOMPARE(outside.exitCode, 1);
        QVERIFY(outside.out.contains("params") && outside.out.contains("outside"));
        QCOMPARE(missing.exitCode, 5);
        QCOMPARE(missing.out, QByteArray("not run here: the case needs 8-bit Adam\n"));
        QCOMPARE(nowhere.exitCode, 3);
    }
};

QTEST_GUILESS_MAIN(TestHistoryCommands)
#include "tst_history_commands.moc"
