#include "tests/engine/history/run_fixture.h"

#include <SQLiteCpp/SQLiteCpp.h>

#include <QTest>

#include <bit>
#include <cmath>
#include <fstream>
#include <limits>
#include <thread>

using namespace mantissa;
using namespace mantissa::test;

namespace {

std::uint64_t bits(double value)
{
    return std::bit_cast<std::uint64_t>(value);
}

std::unique_ptr<RunWriter> started(const RunStart& start)
{
    auto writer = RunWriter::create(start);
    return writer ? std::move(*writer) : nullptr;
}

} // namespace

class TestRunHistory : public QObject {
    Q_OBJECT

private slots:
    void everyBitOfAValueComesBack()
    {
        QTemporaryDir history;
        const auto start = someRun(pathOf(history));
        auto writer = started(start);
        QVERIFY(writer);
        const double odd[] = {std::numeric_limits<double>::quiet_NaN(),
                              std::bit_cast<double>(0xFFF8000000000123ULL),
                              std::numeric_limits<double>::infinity(),
                              -std::numeric_limits<double>::infinity(),
                              -0.0,
                              std::numeric_limits<double>::denorm_min(),
                              0.1,
                              65536.0};
        std::vector<Sample> samples;
        for (int step = 0; step < 2500; ++step) // Two chunks and a tail.
            samples.push_back({1, step, 0.25 * step, odd[step % 8]});

        writer->append(samples);
        const auto finished = writer->finish(RunState::Finished, 2499);

        QVERIFY(finished);
        const auto reader = RunReader::open(writer->folder());
        QVERIFY(reader);
        const auto points = (*reader)->points(start.series[1]);
        QVERIFY(points);
        QCOMPARE(points->value.size(), samples.size());
        for (std::size_t i = 0; i < samples.size(); ++i) {
            QCOMPARE(bits(points->value[i]), bits(samples[i].value));
            QCOMPARE(points->step[i], samples[i].step);
            QCOMPARE(points->time[i], samples[i].time);
        }
        QVERIFY((*reader)->points(start.series[0])->value.empty());
    }

    void everythingElseComesBack()
    {
        QTemporaryDir history;
        const auto start = someRun(pathOf(history), "bases / läufe");
        auto writer = started(start);
        QVERIFY(writer);
        const RunEvent event{
            3, 0.5, "skipped", "optimizer", 1, "layer.0", "Step 3 was skipped.", "{\"scale\":1024}"};
        const CheckpointRecord checkpoint{3, "checkpoints/step-3", 1234, "ab12", true};

        writer->setState(RunState::Running);
        writer->append(event);
        writer->append(checkpoint);
        writer->append(ramp(0, 4));
        QVERIFY(writer->finish(RunState::Stopped, 3));

        const auto reader = RunReader::open(writer->folder());
        QVERIFY(reader);
        const auto summary = (*reader)->summary();
        QVERIFY(summary);
        QCOMPARE(summary->id, writer->id());
        QCOMPARE(summary->name, start.name);
        QCOMPARE(summary->state, RunState::Stopped);
        QCOMPARE(summary->stateText, std::string("stopped"));
        QCOMPARE(summary->steps, std::int64_t{4});
        QCOMPARE(summary->started.size(), std::size_t{20});
        QVERIFY(!summary->host.empty() && !summary->ended.empty());
        QCOMPARE((*reader)->series()->size(), std::size_t{2});
        QVERIFY(*(*reader)->series() == start.series);
        QVERIFY(*(*reader)->events() == std::vector<RunEvent>{event});
        QCOMPARE((*reader)->checkpoints()->at(0).path, checkpoint.path);
        QCOMPARE((*reader)->checkpoints()->at(0).bytes, checkpoint.bytes);
        QCOMPARE((*reader)->setup()->yaml, start.setupText);
        QCOMPARE((*reader)->setup()->effective, start.effective);
        std::ifstream yaml(writer->folder() / "setup.yaml");
        QCOMPARE(std::string(std::istreambuf_iterator<char>(yaml), {}), start.setupText);
        QVERIFY(std::filesystem::is_directory(writer->folder() / "checkpoints"));
        QVERIFY(writer->folder().filename().string().find("bases-läufe-" + writer->id())
                != std::string::npos);
    }

    void anEndedRunIsOneFileInRollbackMode()
    {
        QTemporaryDir history;
        auto writer = started(someRun(pathOf(history)));
        QVERIFY(writer);
        writer->append(ramp(0, 5000));
        QVERIFY(writer->finish(RunState::Finished, 4999));

        SQLite::Database database((writer->folder() / "run.sqlite").string());

        QVERIFY(!std::filesystem::exists(writer->folder() / "run.sqlite-wal"));
        QCOMPARE(database.execAndGet("PRAGMA journal_mode").getString(), std::string("delete"));
        QCOMPARE(database.execAndGet("PRAGMA integrity_check").getString(), std::string("ok"));
        QCOMPARE(database.execAndGet("PRAGMA user_version").getInt(), 1);
        QCOMPARE(database.execAndGet("SELECT count(*) FROM chunk").getInt(), 4);
        QCOMPARE(database.execAndGet("SELECT count(*) FROM tail").getInt(), 5000 - 4 * 1024);
        QCOMPARE(database.execAndGet("SELECT max FROM chunk WHERE first_seq = 1024").getDouble(), 2047 * 0.5);
    }

    void extremesOfAChunkLeaveOutWhatIsNotFinite()
    {
        QTemporaryDir history;
        auto writer = started(someRun(pathOf(history)));
        QVERIFY(writer);
        std::vector<Sample> samples;
        for (int step = 0; step < 2048; ++step)
            samples.push_back({0, step, 0.0,
                               step >= 1024 || step % 2 ? std::nan("")
                                   : step == 10         ? -INFINITY
                                                        : 7.0 - step});
        writer->append(samples);
        QVERIFY(writer->finish(RunState::Finished, 2047));

        SQLite::Database database((writer->folder() / "run.sqlite").string());
        SQLite::Statement chunk(
            database, "SELECT min, max, first, last, nan, pos_inf, neg_inf FROM chunk ORDER BY first_seq");

        QVERIFY(chunk.executeStep());
        QCOMPARE(chunk.getColumn(0).getDouble(), 7.0 - 1022);
        QCOMPARE(chunk.getColumn(1).getDouble(), 7.0);
        QCOMPARE(chunk.getColumn(4).getInt(), 512);
        QCOMPARE(chunk.getColumn(6).getInt(), 1);
        QVERIFY(chunk.executeStep());
        QVERIFY(chunk.getColumn(0).isNull() && chunk.getColumn(3).isNull());
        QCOMPARE(chunk.getColumn(4).getInt(), 1024);
    }

    void aRunCanBeReadWhileItIsWritten()
    {
        QTemporaryDir history;
        const auto start = someRun(pathOf(history));
        auto writer = started(start);
        QVERIFY(writer);
        writer->setState(RunState::Running);
        std::jthread training([&](const std::stop_token& stop) {
            for (std::int64_t step = 0; !stop.stop_requested(); step += 10) {
                writer->append(ramp(step, 10));
                std::this_thread::sleep_for(std::chrono::milliseconds(1));
            }
        });

        const auto reader = RunReader::open(writer->folder());
        QVERIFY(reader);
        std::size_t seen = 0;
        for (int look = 0; look < 200 || seen < 3000; ++look) {
            const auto points = (*reader)->points(start.series[0]);
            QVERIFY2(points, points ? "" : points.error().message.c_str());
            QVERIFY(points->value.size() >= seen);
            seen = points->value.size();
            for (std::size_t i = 0; i < seen; ++i)
                QCOMPARE(points->step[i],
                         static_cast<std::int64_t>(i)); // No hole and no double where the tail is folded.
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
        }
        QCOMPARE((*reader)->summary()->state, RunState::Running);
        training.request_stop();
        training.join();
        QVERIFY(writer->finish(RunState::Finished, -1));
        QCOMPARE((*reader)->summary()->state, RunState::Finished);
        QVERIFY(!std::filesystem::exists(writer->folder() / "run.sqlite-wal"));
    }

    void pointsAreOnDiskWithinASecond()
    {
        QTemporaryDir history;
        const auto start = someRun(pathOf(history));
        auto writer = started(start);
        QVERIFY(writer);

        writer->append(ramp(0, 3));

        const auto reader = RunReader::open(writer->folder());
        QVERIFY(reader);
        QTRY_COMPARE_WITH_TIMEOUT((*reader)->points(start.series[0])->value.size(), std::size_t{3}, 1000);
    }

    void aFullQueueMakesTheCallerWaitAndLosesNothing()
    {
        QTemporaryDir history;
        const auto start = someRun(pathOf(history));
        auto writer = started(start);
        QVERIFY(writer);

        for (std::int64_t step = 0; step < 600'000; step += 1000)
            writer->append(ramp(step, 1000));
        QVERIFY(writer->finish(RunState::Finished, 599'999));

        const auto points = (*RunReader::open(writer->folder()))->points(start.series[0]);
        QVERIFY(points);
        QCOMPARE(points->value.size(), std::size_t{600'000});
        QCOMPARE(points->step.back(), std::int64_t{599'999});
    }

    void aWriterThatGoesAwayLeavesAnInterruptedRun()
    {
        QTemporaryDir history;
        auto writer = started(someRun(pathOf(history)));
        QVERIFY(writer);
        const auto folder = writer->folder();
        writer->setState(RunState::Running);
        writer->append(ramp(0, 7));

        writer.reset();

        const auto summary = (*RunReader::open(folder))->summary();
        QCOMPARE(summary->state, RunState::Interrupted);
        QCOMPARE(summary->steps, std::int64_t{7});
    }

    void runsThatStartAtOnceNeverCollide()
    {
        QTemporaryDir history;
        std::vector<std::unique_ptr<RunWriter>> writers(16);
        {
            std::vector<std::jthread> threads;
            for (auto& writer : writers)
                threads.emplace_back([&] { writer = started(someRun(pathOf(history), "same")); });
        }

        const auto rows = *listRuns(pathOf(history));

        QCOMPARE(rows.size(), writers.size());
        for (const auto& row : rows)
            QVERIFY(row.error.empty());
    }

    void namesBecomeFoldersSafely_data()
    {
        QTest::addColumn<QString>("name");
        QTest::addColumn<QString>("part");
        QTest::newRow("separators") << "../../etc/passwd"
                                    << "-etc-passwd-";
        QTest::newRow("empty") << ""
                               << "-run-";
        QTest::newRow("only dots") << "..."
                                   << "-run-";
        QTest::newRow("control") << "a\nb\tc"
                                 << "-a-b-c-";
        QTest::newRow("long") << QString(300, 'x') << "-" + QString(40, 'x') + "-";
        QTest::newRow("long, two bytes each")
            << QString(300, QChar(0xE4)) << "-" + QString(20, QChar(0xE4)) + "-";
    }
    void namesBecomeFoldersSafely()
    {
        QFETCH(QString, name);
        QFETCH(QString, part);
        QTemporaryDir history;

        const auto writer = started(someRun(pathOf(history), name.toStdString()));

        QVERIFY(writer);
        QCOMPARE(writer->folder().parent_path(), pathOf(history));
        const auto folder = QString::fromStdString(writer->folder().filename().string());
        QVERIFY2(folder.contains(part + QString::fromStdString(writer->id())), qPrintable(folder));
        QCOMPARE((*RunReader::open(writer->folder()))->summary()->name, name.toStdString());
    }

    void aFileOfVersionOneIsRead()
    {
        const auto reader = RunReader::open(TEST_DATA "/history/version-1");

        QVERIFY2(reader, reader ? "" : reader.error().message.c_str());
        const auto series = (*reader)->series();
        const auto points = (*reader)->points(series->at(0));
        QCOMPARE((*reader)->summary()->name, std::string("golden of version 1"));
        QCOMPARE((*reader)->summary()->state, RunState::Finished);
        QCOMPARE(points->value.size(), std::size_t{1030});
        QCOMPARE(points->value[7], 3.5);
        QVERIFY(std::isnan(points->value[1029]));
        QCOMPARE((*reader)->events()->size(), std::size_t{1});
    }
};

QTEST_APPLESS_MAIN(TestRunHistory)
#include "tst_run_history.moc"
