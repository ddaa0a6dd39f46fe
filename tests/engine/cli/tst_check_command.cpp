#include "tests/engine/cli/command_line.h"

#include <QFile>
#include <QJsonArray>
#include <QJsonObject>
#include <QTemporaryDir>
#include <QTest>

using namespace mantissa::test;

namespace {

constexpr const char* kConflict = "trainer:\n"
                                  "  accelerator: gpu\n"
                                  "  devices: 2\n"
                                  "  strategy: fsdp # shards\n"
                                  "  precision: 16-mixed\n"
                                  "  gradient_clip_val: 1.0\n"
                                  "optimizer:\n"
                                  "  class_path: torch.optim.AdamW\n"
                                  "  init_args:\n"
                                  "    lr: 1e-3\n"
                                  "    fused: true\n";

} // namespace

class TestCheckCommand : public QObject {
    Q_OBJECT

private:
    QTemporaryDir m_folder;

    QString write(const QString& name, const QByteArray& text)
    {
        QFile file(m_folder.filePath(name));
        if (file.open(QIODevice::WriteOnly))
            file.write(text);
        return file.fileName();
    }

private slots:
    void aConflictIsPrintedAtItsPlace()
    {
        const QString file = write("conflict.yaml", kConflict);

        const auto result = runCommand({"check", file});

        QCOMPARE(result.exitCode, 1);
        const QString line = QString::fromUtf8(result.out).section('\n', 0, 0);
        QVERIFY2(line.startsWith(file + ":6:3: Will stop at step 1, at Clip: "), qPrintable(line));
        QVERIFY(line.endsWith("[fsdp-clip-norm]"));
    }

    void theSameSetupStopsElsewhereUnderFabric()
    {
        const QString file = write("conflict.yaml", kConflict);

        const auto result = runCommand({"check", file, "--target", "fabric-2.6.6", "--json"});

        QCOMPARE(result.exitCode, 1);
        const QJsonObject report = result.json().object();
        QCOMPARE(report["target"].toString(), "fabric-2.6.6");
        QVERIFY(report["verdict"].toObject().contains("here"));
        const QJsonObject finding = report["findings"].toArray().first().toObject();
        for (const char* key :
             {"rule", "severity", "stage", "paths", "message", "why", "source", "engine", "fixes"})
            QVERIFY2(finding.contains(key), key);
        QCOMPARE(finding["stage"].toString(), "unscale");
        const QJsonObject fix = finding["fixes"].toArray().first().toObject();
        QCOMPARE(fix["grade"].toString(), "safe");
        QCOMPARE(fix["edits"].toArray().first().toObject()["path"].toString(), "optimizer.init_args.fused");
        QCOMPARE(fix["clears"].toArray().first().toString(), "fsdp-self-unscaling-clip");
    }

    void aSoundSetupEndsWithZero()
    {
        const QString file = write("sound.yaml", "trainer:\n  accelerator: gpu\n  precision: bf16-mixed\n");

        const auto result = runCommand({"check", file, "--json"});

        QCOMPARE(result.exitCode, 0);
        for (const auto& finding : result.json().object()["findings"].toArray())
            QVERIFY(finding.toObject()["severity"].toString() != "wont_start");
    }

    void aSuppressedFindingIsLeftOutAndNamed()
    {
        const QString file = write("suppressed.yaml",
                                   QByteArray(kConflict)
                                       + "mantissa:\n  suppress:\n    - {rule: fsdp-clip-norm, path: "
                                         "trainer.gradient_clip_val, reason: own hook}\n");

        const auto report = runCommand({"check", file, "--json"}).json().object();

        for (const auto& finding : report["findings"].toArray())
            QVERIFY(finding.toObject()["rule"].toString() != "fsdp-clip-norm");
        QCOMPARE(report["suppressed"].toArray().first().toObject()["reason"].toString(), "own hook");
    }

    void anUnreadableFileGivesItsPlace()
    {
        const QString file = write("broken.yaml", "trainer:\n  precision: [16\nmodel: {\n");

        const auto result = runCommand({"check", file});

        QCOMPARE(result.exitCode, 3);
        QVERIFY2(result.err.contains((file + ":").toUtf8()), result.err.constData());
    }

    void anEmptyFileIsNoSetup()
    {
        for (const char* text : {"", "# nothing yet\n", "null\n"}) {
            const auto result = runCommand({"check", write("empty.yaml", text), "--json"});
            QCOMPARE(result.exitCode, 3);
            QVERIFY2(result.err.contains("empty.yaml is empty"), result.err.constData());
        }
    }

    void whatIsNotThereIsSaid()
    {
        QCOMPARE(runCommand({"check", m_folder.filePath("none.yaml")}).exitCode, 3);
        QCOMPARE(runCommand({"check"}).exitCode, 2);
        const QString file = write("sound.yaml", "trainer: {}\n");
        QCOMPARE(runCommand({"check", "--batch", m_folder.path()}).exitCode, 3);
        const auto unknown = runCommand({"chek", file});
        QCOMPARE(unknown.exitCode, 2);
        QVERIFY2(unknown.err.contains("no command \"chek\"") && unknown.err.contains("check"), unknown.err);
        const auto result = runCommand({"check", file, "--target", "trainer-9"});
        QCOMPARE(result.exitCode, 2);
        QVERIFY(result.err.contains("trainer-2.6.6"));
        QCOMPARE(runCommand({"check", "--batch", file, "--target", "trainer-9"}).exitCode, 2);
        QCOMPARE(runCommand({"fix", file, "--target", "trainer-9"}).exitCode, 2);
    }

    void outputThatIsLostIsNoSuccess()
    {
        const QString file = write("sound.yaml", "trainer: {}\n");
        QProcess process;
        process.setStandardOutputFile("/dev/full");
        process.start(MANTISSA_CLI, {"check", file, "--json"});
        QVERIFY(process.waitForFinished());

        QCOMPARE(process.exitCode(), 3);
        QVERIFY(process.readAllStandardError().contains("could not be written"));
    }

    void unknownKnobsAreToldBesideTheFindings()
    {
        const QString file = write("unknown.jsonl",
                                   "{\"id\":1,\"knobs\":{\"precison\":\"16-mixed\",\"devices\":0,"
                                   "\"callback.EarlyStopping.patienc\":3,\"callback.Mine\":true,"
                                   "\"callback.Timer#2.duration\":\"00:00:01:00\"}}\n"
                                   "{\"id\":2,\"knobs\":{\"precision\":\"16-mixed\",\"env.vars\":{}}}\n");

        const auto lines = runCommand({"check", "--batch", file, "--json"}).out.trimmed().split('\n');

        const auto first = QJsonDocument::fromJson(lines[0]).object();
        QCOMPARE(first["unknown"].toArray(),
                 (QJsonArray{"callback.EarlyStopping.patienc", "callback.Mine", "precison"}));
        QCOMPARE(first["findings"].toArray().first().toObject()["rule"].toString(), "devices-none");
        QVERIFY(!QJsonDocument::fromJson(lines[1]).object().contains("unknown"));
        QVERIFY(runCommand({"check", "--batch", file}).out.contains("there is no knob \"precison\""));
    }

    void aRowWithoutPackagesHasThoseOfTheMeasuredInstallation()
    {
        const auto file = write("packages.jsonl",
                                R"({"id":"plain","knobs":{"logger":"TensorBoardLogger"}})"
                                "\n"
                                R"({"id":"given","knobs":{"logger":"TensorBoardLogger",)"
                                R"("env.packages":["tensorboard"]}})"
                                "\n");

        const auto lines = runCommand({"check", "--batch", file, "--json"}).out.trimmed().split('\n');

        QVERIFY(lines.at(0).contains("package-of-logger"));
        QVERIFY(!lines.at(1).contains("package-of-logger"));
    }

    void aValueOfAnotherKindIsTheErrorOfItsLine_data()
    {
        QTest::addColumn<QByteArray>("knob");
        for (const char* knob :
             {R"("precision":{"a":1})", R"("gradient_clip_val":"much")", R"("max_epochs":[1])",
              R"("callback.EarlyStopping":5)", R"("sync_batchnorm":"perhaps")",
              R"("callback.GradientAccumulationScheduler.scheduling":7)"})
            QTest::newRow(knob) << QByteArray(knob);
    }
    void aValueOfAnotherKindIsTheErrorOfItsLine()
    {
        QFETCH(const QByteArray, knob);
        const QString file =
            write("kinds.jsonl", "{\"id\":\"x\",\"knobs\":{" + knob + "}}\n{\"id\":\"y\",\"knobs\":{}}\n");

        const auto result = runCommand({"check", "--batch", file, "--json"});

        const auto lines = result.out.trimmed().split('\n');
        QCOMPARE(result.exitCode, 3);
        QVERIFY2(lines[0].contains("\"error\":\"The knob ") && lines[0].contains(", and should be "),
                 lines[0]);
        QVERIFY(lines[1].contains("findings"));
    }

    void wrongShapesAreFoundAtTheirPlace()
    {
        const QString file = write("shapes.yaml",
                                   "trainer:\n"
                                   "  devices: 0\n"
                                   "  callbacks:\n"
                                   "  - 5\n"
                                   "  - null\n"
                                   "  - {class_path: 5}\n"
                                   "  - {class_path: EarlyStopping, init_args: loss}\n"
                                   "  strategy: [ddp]\n"
                                   "model: {class_path: 5}\n");

        const auto result = runCommand({"check", file});

        QCOMPARE(result.exitCode, 1);
        for (const char* line :
             {":2:3: Will not start: devices=0", ":4:5: Will not start: trainer.callbacks[0] is 5",
              ":5:5: Will not start: trainer.callbacks[1] is null",
              ":6:5: Will not start: trainer.callbacks[2] has the class_path 5",
              ":7:5: Will not start: trainer.callbacks[3] has the init_args loss",
              ":9:8: Will not start: model has the class_path 5"})
            QVERIFY2(result.out.contains((file + line).toUtf8()), result.out + line);
    }

    void whatIsShownCannotSteerATerminal()
    {
        const QString file = write("escape.yaml", "trainer:\n  precision: \"\\e[2Jx\\nFAKE: line\"\n");

        const auto result = runCommand({"check", file});

        QVERIFY2(!result.out.contains('\033') && !result.out.contains("\nFAKE"), result.out);
        QVERIFY2(result.out.contains("\\x1b[2Jx\\nFAKE: line"), result.out);
    }

    void aBatchGoesOnAfterABadLine()
    {
        const QString file =
            write("rows.jsonl",
                  "{\"id\":\"a\",\"knobs\":{\"strategy\":\"fsdp\",\"accelerator\":\"gpu\","
                  "\"precision\":\"64-true\"},\"target\":{}}\n"
                  "no json\n"
                  "{\"id\":7,\"knobs\":{\"accelerator\":\"gpu\"},\"target\":{\"gpus\":0}}\n"
                  "{\"id\":\"d\",\"knobs\":3}\n"
                  "{\"id\":\"e\",\"knobs\":"
                      + QByteArray(5000, '[') + QByteArray(5000, ']')
                      + "}\n"
                        "{\"id\":\"f\",\"knobs\":{},\"target\":{\"gpus\":\"many\"}}\n"
                        "{\"id\":\"g\",\"knobs\":{\"accelerator\":\"gpu\",\"env.num_gpus\":1},"
                        "\"target\":{\"gpus\":0}}");

        const auto result = runCommand({"check", "--batch", file, "--json"});

        QCOMPARE(result.exitCode, 1);
        const auto lines = result.out.trimmed().split('\n');
        QCOMPARE(lines.size(), 7);
        const auto at = [&](int line) { return QJsonDocument::fromJson(lines[line]).object(); };
        QCOMPARE(at(0)["id"].toString(), "a");
        QCOMPARE(at(0)["findings"].toArray().first().toObject()["rule"].toString(), "fsdp-precision");
        QVERIFY(at(1)["id"].isNull() && at(1).contains("error"));
        QCOMPARE(at(2)["id"].toInt(), 7);
        QCOMPARE(at(2)["findings"].toArray().first().toObject()["rule"].toString(),
                 "accelerator-unavailable");
        QVERIFY(at(3).contains("error") && at(3)["id"].toString() == "d");
        QVERIFY(at(4).contains("error"));
        QVERIFY(at(5)["error"].toString().contains("gpus"));
        for (const auto& finding : at(6)["findings"].toArray())
            QVERIFY(finding.toObject()["rule"].toString() != "accelerator-unavailable");
    }
};

QTEST_APPLESS_MAIN(TestCheckCommand)
#include "tst_check_command.moc"
