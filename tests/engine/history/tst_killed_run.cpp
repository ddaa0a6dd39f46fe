#include "tests/engine/history/run_fixture.h"

#include <SQLiteCpp/SQLiteCpp.h>

#include <QProcess>
#include <QTest>

#include <algorithm>
#include <chrono>
#include <random>
#include <signal.h>
#include <unistd.h>

using namespace mantissa;
using namespace mantissa::test;

namespace {

double now()
{
    return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

/// Starts the program that writes and kills it after a while. The run's folder; empty where it did not start.
std::filesystem::path killedRun(const std::filesystem::path& history, int afterMs, double& killedAt)
{
    QProcess writing;
    writing.start(QStringLiteral(WRITING_PROGRAM), {QString::fromStdString(history.string())});
    if (!writing.waitForReadyRead(10'000))
        return {};
    const auto folder = QString::fromUtf8(writing.readLine()).trimmed().toStdString();
    QTest::qWait(afterMs);
    killedAt = now();
    kill(static_cast<pid_t>(writing.processId()), SIGKILL);
    writing.waitForFinished();
    return folder;
}

std::string integrity(const std::filesystem::path& folder)
{
    QTemporaryDir aside; // Opening for writing would repair the file under test.
    for (const char* file : {"run.sqlite", "run.sqlite-wal"})
        std::filesystem::copy_file(folder / file, pathOf(aside) / file);
    SQLite::Database database((pathOf(aside) / "run.sqlite").string(), SQLite::OPEN_READWRITE);
    return database.execAndGet("PRAGMA integrity_check").getString();
}

/// Takes the rights of nobody where the test runs as root, for whom no folder is read-only.
class WithoutRights {
public:
    WithoutRights() : m_root(geteuid() == 0) { m_dropped = !m_root || seteuid(65534) == 0; }
    ~WithoutRights()
    {
        if (m_root && m_dropped && seteuid(0) != 0)
            qFatal("the rights did not come back");
    }
    bool dropped() const { return m_dropped; }

private:
    bool m_root;
    bool m_dropped = false;
};

} // namespace

class TestKilledRun : public QObject {
    Q_OBJECT

private slots:
    void killingTheWriterLosesAtMostASecond()
    {
        QTemporaryDir history;
        std::mt19937 random(std::random_device{}());
        std::uniform_int_distribution<int> moments(50, 2500);
        double worst = 0.0;
        for (int round = 0; round < 10; ++round) {
            const int moment = moments(random);
            double killedAt = 0.0;
            const auto folder = killedRun(pathOf(history), moment, killedAt);
            QVERIFY(!folder.empty());

            const auto reader = RunReader::open(folder);
            QVERIFY2(reader, reader ? "" : reader.error().message.c_str());
            QCOMPARE((*reader)->summary()->state, RunState::Interrupted);
            const auto spec = (*reader)->series()->at(0);
            const auto points = (*reader)->points(spec);
            QVERIFY(points);
            for (std::size_t i = 0; i < points->step.size(); ++i)
                QCOMPARE(points->step[i], static_cast<std::int64_t>(i));
            const double lost = points->value.empty() ? moment / 1000.0 : killedAt - points->value.back();
            worst = std::max(worst, lost);
            QVERIFY2(lost <= 1.0,
                     qPrintable(QString::asprintf("killed after %d ms, lost %.3f s", moment, lost)));
            QCOMPARE(integrity(folder), std::string("ok"));
        }
        qInfo("killed ten times: at most %.3f s lost", worst);
    }

    void aKilledRunIsReadInAReadOnlyFolder()
    {
        QTemporaryDir history;
        double killedAt = 0.0;
        const auto folder = killedRun(pathOf(history), 1200, killedAt);
        QVERIFY(!folder.empty());
        std::filesystem::remove(folder / "run.sqlite-shm"); // As after a restart of the machine, or a copy.
        using std::filesystem::perms;
        const auto readOnly = perms::owner_read | perms::owner_exec | perms::group_read | perms::group_exec
            | perms::others_read | perms::others_exec;
        std::filesystem::permissions(pathOf(history), readOnly);
        std::filesystem::permissions(folder, readOnly);

        std::size_t seen = 0;
        {
            const WithoutRights rights;
            if (!rights.dropped())
                QSKIP("this user cannot become another one");
            const auto reader = RunReader::open(folder);
            QVERIFY2(reader, reader ? "" : reader.error().message.c_str());
            seen = (*reader)->points((*reader)->series()->at(0))->value.size();
            QCOMPARE((*reader)->summary()->state, RunState::Interrupted);
        }
        std::filesystem::permissions(pathOf(history), perms::owner_all);
        std::filesystem::permissions(folder, perms::owner_all);

        QVERIFY(seen > 100);
        QVERIFY(!std::filesystem::exists(folder / "run.sqlite-shm"));
        QVERIFY(std::filesystem::exists(folder / "run.sqlite-wal"));
    }

    void aReaderChangesNothingOfAKilledRun()
    {
        QTemporaryDir history;
        double killedAt = 0.0;
        const auto folder = killedRun(pathOf(history), 1200, killedAt);
        const auto size = std::filesystem::file_size(folder / "run.sqlite");
        const auto wal = std::filesystem::file_size(folder / "run.sqlite-wal");

        {
            const auto reader = RunReader::open(folder);
            QVERIFY(reader);
            QVERIFY((*reader)->events());
        }

        QCOMPARE(std::filesystem::file_size(folder / "run.sqlite"), size);
        QCOMPARE(std::filesystem::file_size(folder / "run.sqlite-wal"), wal);
    }
};

QTEST_GUILESS_MAIN(TestKilledRun)
#include "tst_killed_run.moc"
