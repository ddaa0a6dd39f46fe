#include "engine/history/annotations.h"
#include "tests/engine/history/run_fixture.h"

#include <SQLiteCpp/SQLiteCpp.h>

#include <QElapsedTimer>
#include <QTest>

#include <fstream>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <unistd.h>

using namespace mantissa;
using namespace mantissa::test;

namespace {

const std::filesystem::path kGolden = TEST_DATA "/history/version-1";

/// A copy of a good run's folder, to be broken.
std::filesystem::path goodRun(const QTemporaryDir& history, const std::string& name)
{
    const auto folder = pathOf(history) / name;
    std::filesystem::copy(kGolden, folder);
    return folder;
}

void writeFile(const std::filesystem::path& file, const std::string& text)
{
    std::ofstream(file, std::ios::binary | std::ios::trunc) << text;
}

void execute(const std::filesystem::path& folder, const std::string& sql)
{
    SQLite::Database((folder / "run.sqlite").string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE)
        .exec(sql);
}

/// Writes over the first page of a table.
void spoilTable(const std::filesystem::path& folder, const std::string& table)
{
    const auto file = folder / "run.sqlite";
    int page = 0;
    int size = 0;
    {
        SQLite::Database database(file.string());
        page =
            database.execAndGet("SELECT rootpage FROM sqlite_schema WHERE name = '" + table + "'").getInt();
        size = database.execAndGet("PRAGMA page_size").getInt();
    }
    std::fstream bytes(file, std::ios::in | std::ios::out | std::ios::binary);
    bytes.seekp(static_cast<std::streamoff>(page - 1) * size);
    bytes << std::string(static_cast<std::size_t>(size), '\xA7');
}

/// What breaks a run's file, by name.
void breakFile(const std::string& how, const std::filesystem::path& folder)
{
    const auto file = folder / "run.sqlite";
    if (how == "empty")
        writeFile(file, "");
    else if (how == "garbage")
        writeFile(file, std::string(20'000, '\xA7'));
    else if (how == "truncated")
        std::filesystem::resize_file(file, 9000);
    else if (how == "foreign")
        std::filesystem::remove(file), execute(folder, "CREATE TABLE runs(id INTEGER)");
    else if (how == "newer")
        execute(folder, "PRAGMA user_version = 7");
    else if (how == "no tables")
        execute(folder, "DROP TABLE meta");
    else if (how == "missing")
        std::filesystem::remove(file);
    else if (how == "a folder")
        std::filesystem::remove(file), std::filesystem::create_directory(file);
    else if (how == "no state")
        execute(folder, "DELETE FROM meta WHERE key = 'state'");
    else if (how == "odd state")
        execute(folder, "UPDATE meta SET value = 'done' WHERE key = 'state'");
    else if (how == "no steps")
        execute(folder, "UPDATE meta SET value = 'many' WHERE key = 'last_step'");
    else if (how == "no set-up")
        execute(folder, "DELETE FROM setup");
    else
        spoilTable(folder, how);
}

/// What this process may not read while this lives, even where it runs as root.
class AnotherUser {
public:
    AnotherUser() { m_changed = geteuid() != 0 || seteuid(65534) == 0; }
    ~AnotherUser() { (void)seteuid(getuid()); }
    bool isOne() const { return m_changed; }

private:
    bool m_changed = false;
};

/// Files of this process grow to `bytes` at most while this lives: a disk that is full.
class FullDisk {
public:
    explicit FullDisk(rlim_t bytes)
    {
        signal(SIGXFSZ, SIG_IGN);
        getrlimit(RLIMIT_FSIZE, &m_before);
        const rlimit limit = {bytes, m_before.rlim_max};
        setrlimit(RLIMIT_FSIZE, &limit);
    }
    ~FullDisk() { setrlimit(RLIMIT_FSIZE, &m_before); }

private:
    rlimit m_before = {};
};

} // namespace

class TestHistoryTrouble : public QObject {
    Q_OBJECT

private slots:
    void aBrokenFileIsListedWithItsError_data()
    {
        QTest::addColumn<QString>("how");
        QTest::addColumn<QString>("word");
        QTest::newRow("empty") << "empty"
                               << "not a history file";
        QTest::newRow("garbage") << "garbage"
                                 << "damaged";
        QTest::newRow("truncated") << "truncated"
                                   << "damaged";
        QTest::newRow("foreign") << "foreign"
                                 << "not a history file";
        QTest::newRow("newer") << "newer"
                               << "newer Mantissa";
        QTest::newRow("no tables") << "no tables"
                                   << "damaged";
        QTest::newRow("missing") << "missing"
                                 << "no run.sqlite";
        QTest::newRow("a folder") << "a folder"
                                  << "run.sqlite is no file";
        QTest::newRow("no state") << "no state"
                                  << "no state";
        QTest::newRow("odd state") << "odd state"
                                   << "\"done\"";
        QTest::newRow("no steps") << "no steps"
                                  << "how many steps";
        QTest::newRow("no set-up") << "no set-up"
                                   << "no set-up";
        for (const char* table : {"meta", "setup", "series", "tail", "chunk", "event", "checkpoint"})
            QTest::newRow(table) << table << "damaged";
    }
    void aBrokenFileIsListedWithItsError()
    {
        QFETCH(QString, how);
        QFETCH(QString, word);
        QTemporaryDir history;
        const auto folder = goodRun(history, "20261130-204409-broken-abcd2345");
        goodRun(history, "20261130-204409-good-whole234");
        breakFile(how.toStdString(), folder);

        const auto rows = *listRuns(pathOf(history));

        QCOMPARE(rows.size(), std::size_t{2});
        QVERIFY(rows[0].error.empty());
        QVERIFY2(rows[1].error.find(word.toStdString()) != std::string::npos, rows[1].error.c_str());
        QCOMPARE(rows[1].id, std::string("abcd2345"));
        QCOMPARE(*findRun(pathOf(history), "abcd"), folder);
        QCOMPARE(rows[1].stateText, std::string(how == "newer" ? "newer" : "damaged"));
        QCOMPARE(rows[1].steps, std::int64_t{-1});
        QVERIFY(!rows[1].hint.empty());
        QCOMPARE(RunReader::open(folder).error().code, ErrorCode::Damaged);
    }

    void whatMayNotBeReadIsNotTakenForEmpty()
    {
        QTemporaryDir history;
        namespace fs = std::filesystem;
        fs::permissions(pathOf(history), fs::perms::all);
        const auto closed = goodRun(history, "20261130-204409-closed-abcd2345");
        const auto file = goodRun(history, "20261130-204409-file-whole234");
        fs::permissions(closed, fs::perms::none);
        fs::permissions(file / "run.sqlite", fs::perms::none);
        const AnotherUser user;
        if (!user.isOne())
            QSKIP("Nothing can be hidden from this user.");

        const auto rows = listRuns(pathOf(history));
        const auto inside = listRuns(closed);

        QVERIFY(rows);
        QCOMPARE(rows->size(), std::size_t{2});
        for (const auto& row : *rows) {
            QCOMPARE(row.stateText, std::string("unreadable"));
            QVERIFY2(row.error.find("Permission denied") != std::string::npos, row.error.c_str());
        }
        QCOMPARE(RunReader::open(closed).error().code, ErrorCode::Io);
        QVERIFY(!inside);
        QCOMPARE(inside.error().code, ErrorCode::Io);
        QCOMPARE(findRun(closed, "any").error().code, ErrorCode::Io);
    }

    void aHistoryThatIsNoFolderIsAnErrorAndAMissingOneIsEmpty()
    {
        QTemporaryDir place;
        writeFile(pathOf(place) / "file", "x");
        std::filesystem::create_symlink(pathOf(place) / "nowhere", pathOf(place) / "link");

        QVERIFY(listRuns(pathOf(place) / "none")->empty());
        for (const char* name : {"file", "file/below", "link"}) {
            const auto rows = listRuns(pathOf(place) / name);
            QVERIFY2(!rows, name);
            QCOMPARE(rows.error().code, ErrorCode::Io);
            QVERIFY(rows.error().message.find((pathOf(place) / name).string()) != std::string::npos);
        }
    }

    void aCopiedRunIsToldApartByItsFolder()
    {
        QTemporaryDir history;
        const auto folder = goodRun(history, "20261130-204409-first-abcd2345");
        const auto id = listRuns(pathOf(history))->at(0).id;
        goodRun(history, "copy of first");

        const auto both = findRun(pathOf(history), id);

        QVERIFY(!both);
        for (const char* name : {"20261130-204409-first-abcd2345", "copy of first"})
            QVERIFY2(both.error().message.find(name) != std::string::npos, both.error().message.c_str());
        QVERIFY(both.error().hint.find("folder") != std::string::npos);
        QCOMPARE(*findRun(pathOf(history), "copy of first"), pathOf(history) / "copy of first");
        QCOMPARE(*findRun(pathOf(history), "20261130-204409-first-abcd2345"), folder);
    }

    void aNewerFileStaysAsItIs()
    {
        QTemporaryDir history;
        const auto folder = goodRun(history, "newer");
        execute(folder, "PRAGMA user_version = 7");
        const auto size = std::filesystem::file_size(folder / "run.sqlite");

        QVERIFY(!RunReader::open(folder));

        SQLite::Database database((folder / "run.sqlite").string());
        QCOMPARE(database.execAndGet("PRAGMA user_version").getInt(), 7);
        QCOMPARE(std::filesystem::file_size(folder / "run.sqlite"), size);
    }

    void aBlockOfAnotherLengthIsAnErrorAndNoCrash()
    {
        QTemporaryDir history;
        const auto folder = goodRun(history, "block");
        execute(folder, "UPDATE chunk SET count = 1 << 40");

        const auto reader = RunReader::open(folder);
        QVERIFY(reader);
        const auto points = (*reader)->points((*reader)->series()->at(0));

        QVERIFY(!points);
        QCOMPARE(points.error().code, ErrorCode::Damaged);
    }

    void aFullDiskIsReportedAndMadeGoodFor()
    {
        QTemporaryDir history;
        const auto start = someRun(pathOf(history));
        auto writer = std::move(*RunWriter::create(start));
        {
            const FullDisk full(96 * 1024);
            for (std::int64_t step = 0; step < 30'000; step += 1000)
                writer->append(ramp(step, 1000));
            QTRY_VERIFY_WITH_TIMEOUT(!writer->health(), 5000);
            QCOMPARE(writer->health().error().code, ErrorCode::Io);
            writer->append(ramp(30'000, 1000)); // Training goes on.
        }

        QVERIFY(!writer->finish(RunState::Finished, 30'999)); // Says that there was something.
        const auto points = (*RunReader::open(writer->folder()))->points(start.series[0]);
        QVERIFY(points);
        QCOMPARE(points->value.size(), std::size_t{31'000});
    }

    void aDiskThatStaysFullEndsTheRunWithAnError()
    {
        QTemporaryDir history;
        const auto start = someRun(pathOf(history));
        auto writer = std::move(*RunWriter::create(start));
        const FullDisk full(96 * 1024);

        writer->append(ramp(0, 60'000));
        const auto finished = writer->finish(RunState::Finished, 59'999);

        QVERIFY(!finished);
        QVERIFY(!finished.error().hint.empty());
        QVERIFY(RunReader::open(writer->folder()));
    }

    void aFullFileSystemStillTakesTheEndAndSaysWhatIsLost()
    {
        const QTemporaryDir place;
        if (mount("none", place.path().toUtf8(), "tmpfs", 0, "size=1M") != 0)
            QSKIP("No file system can be mounted here.");
        {
            auto writer = std::move(*RunWriter::create(someRun(pathOf(place))));
            for (std::int64_t step = 0; step < 60'000; step += 1000)
                writer->append(ramp(step, 1000));
            QTRY_VERIFY_WITH_TIMEOUT(!writer->health(), 5000);
            QVERIFY(!writer->finish(RunState::Finished, 59'999));
            QVERIFY(writer->lostCount() > 0);
        }

        const auto row = listRuns(pathOf(place))->at(0);

        umount2(place.path().toUtf8(), MNT_DETACH);
        QVERIFY2(row.error.empty(), row.error.c_str());
        QCOMPARE(row.state, RunState::Finished);
        QCOMPARE(row.steps, std::int64_t{60'000});
        QVERIFY(row.lostPoints > 0);
    }

    void aFolderThatGoesAwayIsReported()
    {
        QTemporaryDir history;
        auto writer = std::move(*RunWriter::create(someRun(pathOf(history))));
        writer->append(ramp(0, 10));

        std::filesystem::remove_all(writer->folder());
        writer->append(ramp(10, 10));

        QTRY_VERIFY_WITH_TIMEOUT(!writer->health(), 3000);
        QVERIFY(writer->health().error().message.find("gone") != std::string::npos);
        QVERIFY(!writer->finish(RunState::Finished, 19));
    }

    void aPlaceThatIsNoFolderIsRefusedWithItsPath()
    {
        QTemporaryDir history;
        writeFile(pathOf(history) / "file", "x");

        const auto writer = RunWriter::create(someRun(pathOf(history) / "file" / "history"));

        QVERIFY(!writer);
        QCOMPARE(writer.error().code, ErrorCode::Io);
        QVERIFY(writer.error().message.find((pathOf(history) / "file").string()) != std::string::npos);
    }

    void aRunningRunOfAnotherMachineIsSilent()
    {
        QTemporaryDir history;
        const auto folder = goodRun(history, "elsewhere");
        execute(folder,
                "UPDATE meta SET value = 'running' WHERE key = 'state';"
                "UPDATE meta SET value = unixepoch() - 14 * 60 WHERE key = 'last_beat';"
                "UPDATE meta SET value = 'node17' WHERE key = 'host'");

        const auto row = listRuns(pathOf(history))->at(0);

        QCOMPARE(row.stateText, std::string("silent 14 min (node17)"));
        QCOMPARE(row.state, RunState::Interrupted);
        QVERIFY(row.silentSeconds >= 840.0 && row.silentSeconds < 900.0);
    }

    void aNumberUsedAgainForAnotherProcessIsNoProofOfLife()
    {
        QTemporaryDir history;
        auto writer = std::move(*RunWriter::create(someRun(pathOf(history))));
        writer->setState(RunState::Running);
        const auto reader = std::move(*RunReader::open(writer->folder()));
        QTRY_COMPARE(reader->summary()->state, RunState::Running);

        execute(writer->folder(), "UPDATE meta SET value = '1' WHERE key = 'process_start'");

        QCOMPARE(reader->summary()->state, RunState::Interrupted);
    }

    void runsAreFoundByIdNamePrefixAndFolder()
    {
        QTemporaryDir history;
        auto first = std::move(*RunWriter::create(someRun(pathOf(history), "baseline")));
        auto second = std::move(*RunWriter::create(someRun(pathOf(history), "baseline-2")));

        const auto find = [&](const std::string& run) { return findRun(pathOf(history), run); };

        QCOMPARE(*find(first->id()), first->folder());
        QCOMPARE(*find("baseline"), first->folder()); // A whole name wins over the beginning of another.
        QCOMPARE(*find("baseline-"), second->folder());
        QCOMPARE(*find(second->folder().string()), second->folder());
        QCOMPARE(find("base").error().code, ErrorCode::NotFound);
        QVERIFY(find("base").error().message.find(second->id()) != std::string::npos);
        QVERIFY(!find("nothing") && !find(""));
    }

    void annotationsNameARunAndSurviveDamage()
    {
        QTemporaryDir history;
        const auto folder = goodRun(history, "annotated");
        Annotations annotations{"better name", "a \"note\"\n", {"baseline", "ü"}, true, false};

        QVERIFY(writeAnnotations(folder, annotations));

        QVERIFY(*readAnnotations(folder) == annotations);
        QCOMPARE(listRuns(pathOf(history))->at(0).name, std::string("better name"));
        writeFile(folder / "annotations.json", "{\"name\": 3");
        QCOMPARE(readAnnotations(folder).error().code, ErrorCode::Damaged);
        QCOMPARE(listRuns(pathOf(history))->at(0).name, std::string("golden of version 1"));
    }

    void aThousandRunsAreListedWithinASecond()
    {
        QTemporaryDir history;
        for (int i = 0; i < 1000; ++i)
            goodRun(history, "20261130-204409-run-" + std::to_string(i));
        QElapsedTimer timer;
        timer.start();

        const auto rows = *listRuns(pathOf(history));

        const auto ms = timer.elapsed();
        qInfo("1000 runs listed in %lld ms", static_cast<long long>(ms));
        QCOMPARE(rows.size(), std::size_t{1000});
#if !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
        QVERIFY(ms < 1000);
#endif
    }
};

QTEST_APPLESS_MAIN(TestHistoryTrouble)
#include "tst_history_trouble.moc"
