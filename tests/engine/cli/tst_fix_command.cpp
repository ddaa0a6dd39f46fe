#include "tests/engine/cli/command_line.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QJsonArray>
#include <QJsonObject>
#include <QTemporaryDir>
#include <QTest>

#include <filesystem>

using namespace mantissa::test;

namespace {

const QByteArray kConflict = "# our cluster's set-up\r\n"
                             "trainer:\r\n"
                             "  accelerator: gpu\r\n"
                             "  devices: 2\r\n"
                             "  strategy: fsdp   # shards\r\n"
                             "  precision: 16-mixed\r\n"
                             "optimizer:\r\n"
                             "  class_path: torch.optim.AdamW\r\n"
                             "  init_args: {lr: 1e-3, fused: true} # fast\r\n"
                             "mantissa:\r\n"
                             "  target: fabric-2.6.6\r\n"
                             "  fabric:\r\n"
                             "    max_norm: 1.0\r\n";

} // namespace

class TestFixCommand : public QObject {
    Q_OBJECT

private:
    QTemporaryDir m_folder;

    QString write(const QByteArray& text)
    {
        QFile file(m_folder.filePath("config.yaml"));
        if (file.open(QIODevice::WriteOnly))
            file.write(text);
        return file.fileName();
    }
    static QByteArray read(const QString& path)
    {
        QFile file(path);
        return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
    }

private slots:
    void safeFixesChangeOnlyTheirLines()
    {
        const QString file = write(kConflict);

        const auto result = runCommand({"fix", file});

        QCOMPARE(result.exitCode, 0);
        QVERIFY(result.out.contains("Applied: Use AdamW without fused"));
        QByteArray expected = kConflict;
        expected.replace("fused: true", "fused: false");
        QCOMPARE(read(file), expected);
        QCOMPARE(runCommand({"check", file}).exitCode, 0);
    }

    void aDryRunPrintsTheDifferenceAndWritesNothing()
    {
        const QString file = write(kConflict);

        const auto result = runCommand({"fix", file, "--dry-run"});

        QCOMPARE(result.exitCode, 0);
        QCOMPARE(read(file), kConflict);
        QVERIFY2(result.out.contains("\n-  init_args: {lr: 1e-3, fused: true} # fast"),
                 result.out.constData());
        QVERIFY(result.out.contains("\n+  init_args: {lr: 1e-3, fused: false} # fast"));
        QVERIFY(result.out.contains("@@ -6,7 +6,7 @@"));
    }

    void theFirstFixOfARuleIsApplied()
    {
        const QString file = write("trainer:\n  accelerator: gpu\n  strategy: fsdp\n  precision: 64-true\n");

        const auto result = runCommand({"fix", file, "--rule", "fsdp-precision", "--json"});

        QCOMPARE(result.exitCode, 0);
        QCOMPARE(read(file),
                 QByteArray("trainer:\n  accelerator: gpu\n  strategy: fsdp\n  precision: 32-true\n"));
        QVERIFY(result.json().object()["written"].toBool());
        QVERIFY(result.json().object()["errors_left"].toArray().isEmpty());
    }

    void whatNoSafeFixClearsIsLeftAndSaid()
    {
        const QByteArray text = "trainer:\n  accelerator: gpu\n  strategy: fsdp\n  precision: 64-true\n";
        const QString file = write(text);

        const auto result = runCommand({"fix", file});

        QCOMPARE(result.exitCode, 1);
        QCOMPARE(read(file), text);
        QVERIFY(result.out.contains("no safe fix"));
    }

    void anUnknownRuleIsAUsageError()
    {
        const QString file = write(kConflict);

        QCOMPARE(runCommand({"fix", file, "--rule", "no-such-rule"}).exitCode, 2);
        QCOMPARE(runCommand({"fix"}).exitCode, 2);
        QCOMPARE(runCommand({"fix", m_folder.filePath("none.yaml")}).exitCode, 3);
        QCOMPARE(read(file), kConflict);
    }

    void aLinkStaysALinkAndPermissionsStay()
    {
        const QString file = write(kConflict);
        QFile::setPermissions(file, QFile::ReadOwner | QFile::WriteOwner);
        const QString link = m_folder.filePath("link.yaml");
        QFile::remove(link);
        QVERIFY(QFile::link(file, link));

        QCOMPARE(runCommand({"fix", link}).exitCode, 0);

        QVERIFY(QFileInfo(link).isSymLink());
        QVERIFY(read(file).contains("fused: false"));
        QVERIFY(!(QFileInfo(file).permissions() & QFile::ReadGroup));
        QCOMPARE(QDir(m_folder.path()).entryList(QDir::Files | QDir::Hidden).filter(".config").size(), 0);
    }

    void aSecondNameStaysANameOfTheFile()
    {
        const QString file = write(kConflict);
        const QString other = m_folder.filePath("other.yaml");
        QFile::remove(other);
        std::filesystem::create_hard_link(file.toStdString(), other.toStdString());

        QCOMPARE(runCommand({"fix", file}).exitCode, 0);

        QVERIFY(read(file).contains("fused: false"));
        QVERIFY(std::filesystem::equivalent(file.toStdString(), other.toStdString()));
        QCOMPARE(QDir(m_folder.path()).entryList(QDir::Files | QDir::Hidden).filter(".config").size(), 0);
    }

    void aSecondFileIsWrongUse()
    {
        const QString file = write(kConflict);

        QCOMPARE(runCommand({"fix", file, file}).exitCode, 2);

        QVERIFY(!read(file).contains("fused: false"));
    }
};

QTEST_APPLESS_MAIN(TestFixCommand)
#include "tst_fix_command.moc"
