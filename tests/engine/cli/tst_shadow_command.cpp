#include "tests/engine/cli/command_line.h"

#include <QJsonArray>
#include <QJsonObject>
#include <QTemporaryDir>
#include <QTest>

#include <fstream>

using namespace mantissa::test;

class TestShadowCommand : public QObject {
    Q_OBJECT

private:
    QTemporaryDir m_folder;
    QString m_file;

    CommandResult shadow(const QStringList& arguments, const QString& script = QStringLiteral("shadow=made"))
    {
        return runCommand(QStringList{"shadow"} + arguments, script);
    }

private slots:
    void initTestCase()
    {
        m_file = m_folder.filePath(QStringLiteral("base.yaml"));
        std::ofstream(m_file.toStdString()) << "trainer: {max_steps: 20}\n"
                                               "model: {class_path: mantissa.MLP}\n"
                                               "data: {class_path: mantissa.FashionMNIST}\n"
                                               "optimizer: {class_path: torch.optim.AdamW}\n";
    }

    void aTableForPeople()
    {
        const auto result =
            shadow({m_file, "--set", "mantissa.ranks=2", "--set", "trainer.precision=16-mixed"});

        QVERIFY2(result.exitCode == 0, result.err);
        QVERIFY(result.out.contains("Step 3 in 16-mixed and in fp32: 64 rows, loss 2.5 and 2.25"));
        QVERIFY(result.out.contains("on one rank with whole weights, for a set-up of 2 ranks"));
        QVERIFY(result.out.contains("Loss scale 1024"));
        QVERIFY(result.out.contains("fc1    activation       fp16    8         1.25e-01  25 %     0 %"));
        QVERIFY(result.out.contains("fc1    weight gradient  fp32    8         –         0 %      50 %"));
        QVERIFY(result.out.contains("75 %"));
        QVERIFY(!result.out.contains("skipped"));
        QVERIFY(shadow({m_file}, "shadow=skipped").out.contains("the step was skipped"));
    }

    void numbersInFullForPrograms()
    {
        const auto result =
            shadow({m_file, "--json", "--batches", "3", "--set", "trainer.precision=fp8-mixed"});

        const auto json = result.json().object();
        QCOMPARE(json["precision"].toString(), QStringLiteral("fp8-mixed"));
        QCOMPARE(json["samples"].toInt(), 192);
        QCOMPARE(json["loss_fp32"].toDouble(), 2.25);
        QCOMPARE(json["loss_scale"].toDouble(), 1024.0);
        const auto rows = json["layers"].toArray();
        QCOMPARE(rows.size(), 3);
        QCOMPARE(rows[0].toObject()["relative_error"].toDouble(), 0.125);
        QCOMPARE(rows[0].toObject()["stalled"], QJsonValue());
        QCOMPARE(rows[1].toObject()["relative_error"].toString(), QStringLiteral("NaN"));
        QCOMPARE(rows[2].toObject()["stalled"].toDouble(), 0.75);
    }

    void aStoredRunStandsForItsSetup()
    {
        const QString history = m_folder.filePath(QStringLiteral("history"));
        QVERIFY(runCommand({"train", m_file, "--history", history, "--name", "base"}, "steps=20").exitCode
                == 0);

        const auto whole = shadow({"--from", "base", "--history", history, "--json"});
        QVERIFY2(whole.exitCode == 0, whole.err);
        QCOMPARE(whole.json()["precision"].toString(), QStringLiteral("32-true"));
        QVERIFY(shadow({"--from", "base@19", "--history", history}).exitCode == 0);
        const auto early = shadow({"--from", "base@3", "--history", history});
        QVERIFY2(early.exitCode == 3 && early.err.contains("no checkpoint at step 3"), early.err);
        QVERIFY(shadow({"--from", "other@3", "--history", history}).exitCode == 3);
    }

    void whatIsWrongIsSaid()
    {
        QCOMPARE(shadow({}).exitCode, 2);
        QCOMPARE(shadow({m_file, "--batches", "0"}).exitCode, 2);
        QCOMPARE(shadow({m_file, "--set", "nonsense"}).exitCode, 2);
        QCOMPARE(shadow({m_folder.filePath("none.yaml")}).exitCode, 3);
        const auto unknown = shadow({m_file, "--set", "trainer.precision=16-bit"});
        QVERIFY2(unknown.exitCode == 5 && unknown.err.contains("16-bit"), unknown.err);
        QCOMPARE(shadow({m_file}, "shadow=missing").exitCode, 5);
        const auto help = shadow({"--help"});
        for (const char* word : {"ERROR", "FLUSHED", "SATURATED", "STALLED"})
            QVERIFY(help.out.contains(word));
    }
};

QTEST_GUILESS_MAIN(TestShadowCommand)
#include "tst_shadow_command.moc"
