#include "engine/checkpoint/checkpoint.h"
#include "engine/history/run_reader.h"
#include "engine/train/local_service.h"
#include "tests/support/scripted_ranks.h"

#include <QTemporaryDir>
#include <QtTest>

#include <future>
#include <thread>

using namespace mantissa;
using namespace std::chrono_literals;

namespace {

using Clock = std::chrono::steady_clock;

/// A service whose ranks follow a script, and a place for its history.
struct ScriptedEngine {
    QTemporaryDir folder;
    SessionOptions options;
    std::unique_ptr<TrainingService> service;

    explicit ScriptedEngine(RankScript script, std::chrono::milliseconds timeout = 20s,
                            std::chrono::milliseconds patience = 10s)
        : ranks(script.ranks)
    {
        options.collectiveTimeout = timeout;
        options.patience = patience;
        options.makeSource = [script](const RunRequest&) { return std::make_unique<ScriptedSource>(script); };
        service = makeLocalService(options);
    }

    Result<std::unique_ptr<TrainingRun>> tryStart() const
    {
        RunRequest request;
        request.plan.ranks = ranks;
        request.name = "scripted";
        request.history = folder.path().toStdString();
        return service->start(request);
    }
    std::unique_ptr<TrainingRun> start() const { return *tryStart(); }

    int ranks;
};

void napUnlessStopped(std::chrono::milliseconds time, const std::stop_token& stop)
{
    const auto end = Clock::now() + time;
    while (Clock::now() < end && !stop.stop_requested())
        std::this_thread::sleep_for(1ms);
}

RankScript slowScript(int ranks, std::int64_t steps)
{
    RankScript script;
    script.ranks = ranks;
    script.steps = steps;
    script.at = [](Communicator&, std::int64_t, Stage stage, const std::stop_token&) {
        if (stage == Stage::Forward)
            std::this_thread::sleep_for(1ms);
    };
    return script;
}

const RunEvent* eventOfKind(const std::vector<RunEvent>& events, const std::string& kind)
{
    const auto found =
        std::find_if(events.begin(), events.end(), [&](const RunEvent& event) { return event.kind == kind; });
    return found == events.end() ? nullptr : &*found;
}

} // namespace

class TestSession : public QObject {
    Q_OBJECT

private slots:
    void aWholeRunIsRecordedAndCheckpointed()
    {
        ScriptedEngine engine({});
        const auto run = engine.start();

        QVERIFY(run->wait(20s));

        const auto summary = run->summary();
        QCOMPARE(summary.state, RunState::Finished);
        QCOMPARE(summary.steps, std::int64_t{10});
        QCOMPARE(summary.message, std::string());
        QCOMPARE(summary.final.at("loss"), 2.0);
        QCOMPARE(run->progress().total, std::int64_t{10});
        const auto reader = RunReader::open(run->folder());
        QVERIFY(reader);
        const auto points = (*reader)->points({"loss", "1"});
        QVERIFY(points);
        QCOMPARE(points->value, std::vector<double>(10, 2.0));
        const auto checkpoints = (*reader)->checkpoints();
        QVERIFY(checkpoints);
        QCOMPARE(checkpoints->size(), std::size_t{1});
        const auto state = readCheckpoint(run->folder() / checkpoints->front().path);
        QVERIFY(state);
        QCOMPARE(state->tensors.front().second.sum().item<double>(), 60.0);
        QCOMPARE((*reader)->summary()->state, RunState::Finished);
    }

    void theFirstStepTellsItsStages()
    {
        ScriptedEngine engine({});
        const auto run = engine.start();
        QVERIFY(run->wait(20s));

        const auto events = run->takeEvents();
        const auto* trace = eventOfKind(events, "stage_trace");

        QVERIFY(trace);
        QCOMPARE(
            trace->detail,
            std::string(R"({"stages":["data","forward","loss","backward","reduce","optimizer","record"]})"));
        QVERIFY(run->takeEvents().empty());
    }

    void aThrowOnAnyRankAtAnyStageEndsTheRunWithItsPlace_data()
    {
        QTest::addColumn<int>("ranks");
        QTest::addColumn<int>("rank");
        QTest::addColumn<int>("stage");
        for (const int ranks : {1, 2, 4}) {
            for (int rank = 0; rank < ranks; ++rank) {
                for (const auto stage : {Stage::Data, Stage::Forward, Stage::Backward, Stage::Reduce,
                                         Stage::Optimizer, Stage::Record})
                    QTest::addRow("rank %d of %d at %s", rank, ranks, std::string(stageId(stage)).c_str())
                        << ranks << rank << static_cast<int>(stage);
            }
        }
    }
    void aThrowOnAnyRankAtAnyStageEndsTheRunWithItsPlace()
    {
        QFETCH(const int, ranks);
        QFETCH(const int, rank);
        QFETCH(const int, stage);
        RankScript script;
        script.ranks = ranks;
        script.at = [=](Communicator& comm, std::int64_t step, Stage at, const std::stop_token&) {
            if (comm.rank() == rank && step == 3 && static_cast<int>(at) == stage)
                throw std::runtime_error("no room for shame");
        };
        ScriptedEngine service(script);
        const auto run = service.start();

        QVERIFY(run->wait(10s));

        const auto place = std::string(stageTitle(static_cast<Stage>(stage)));
        QCOMPARE(run->state(), RunState::Failed);
        QCOMPARE(run->summary().message,
                 "Rank " + std::to_string(rank) + " failed at " + place + " in step 3: no room for shame");
        QVERIFY(!run->leftRanksBehind());
        const auto events = (*RunReader::open(run->folder()))->events();
        const auto* failure = eventOfKind(*events, "failure");
        QVERIFY(failure);
        QCOMPARE(failure->rank, rank);
        QCOMPARE(failure->stage, std::string(stageId(static_cast<Stage>(stage))));
        QCOMPARE(failure->step, std::int64_t{3});
    }

    void memoryThatIsNotThereIsSaidSo()
    {
        RankScript script;
        script.at = [](Communicator& comm, std::int64_t step, Stage at, const std::stop_token&) {
            if (comm.rank() == 1 && step == 2 && at == Stage::Forward)
                throw std::bad_alloc();
        };
        ScriptedEngine engine(script);
        const auto run = engine.start();
        RunStateEvent last;
        const auto subscription = run->onStateChanged([&last](const RunStateEvent& event) { last = event; });

        QVERIFY(run->wait(10s));

        QCOMPARE(run->summary().message, std::string("Rank 1 failed at Forward in step 2: out of memory"));
        QVERIFY(last.hint.find("batch") != std::string::npos);
    }

    void aStalledRankEndsByTimeOutAndIsNamed()
    {
        RankScript script;
        script.at = [](Communicator& comm, std::int64_t step, Stage at, const std::stop_token& stop) {
            if (comm.rank() == 1 && step == 4 && at == Stage::Backward)
                napUnlessStopped(20s, stop);
        };
        ScriptedEngine engine(script, 200ms);
        const auto begin = Clock::now();
        const auto run = engine.start();

        QVERIFY(run->wait(10s));

        QVERIFY(Clock::now() - begin < 5s);
        QCOMPARE(run->state(), RunState::Failed);
        QCOMPARE(run->summary().message,
                 std::string("Rank 1 failed at Backward in step 4: it did not come to a collective within "
                             "200 ms; rank 0 waited for it at "
                             "Reduce in step 4"));
    }

    void aRankThatNeverComesBackIsLeftBehindAndSaid()
    {
        auto release = std::make_shared<std::promise<void>>();
        auto released = release->get_future().share();
        auto gone = std::make_shared<std::atomic<bool>>(false);
        RankScript script;
        script.at = [released, gone](Communicator& comm, std::int64_t step, Stage at,
                                     const std::stop_token&) {
            if (comm.rank() == 1 && step == 2 && at == Stage::Forward) {
                released.wait();
                *gone = true;
            }
        };
        ScriptedEngine engine(script, 100ms, 200ms);
        auto run = engine.start();

        QVERIFY(run->wait(10s));

        QVERIFY(run->leftRanksBehind());
        QCOMPARE(run->state(), RunState::Failed);
        QVERIFY(run->summary().message.find("Rank 1 did not end") != std::string::npos);
        QCOMPARE((*RunReader::open(run->folder()))->summary()->state, RunState::Failed);
        run.reset();
        release->set_value(); // it wakes up in a run that is gone, and must harm nothing
        QTRY_VERIFY(gone->load());
        QTest::qWait(50);
    }

    void ranksThatCallDifferentCollectivesFailWithBothNames()
    {
        RankScript script;
        script.at = [](Communicator& comm, std::int64_t step, Stage at, const std::stop_token&) {
            if (comm.rank() == 1 && step == 1 && at == Stage::Forward)
                comm.barrier();
        };
        ScriptedEngine engine(script);
        const auto run = engine.start();

        QVERIFY(run->wait(10s));

        QCOMPARE(run->state(), RunState::Failed);
        const auto message = run->summary().message;
        QVERIFY2(message.find("rank 0 called all-reduce (sum) of 1 f64, rank 1 called barrier")
                     != std::string::npos,
                 message.c_str());
    }

    void whatCannotBePreparedFailsWithItsWayOut()
    {
        RankScript script;
        script.prepare = []() -> Result<void> {
            return Error{ErrorCode::NotFound, "No data there.", "Say where it is."};
        };
        ScriptedEngine engine(script);
        const auto run = engine.start();

        QVERIFY(run->wait(10s));

        QCOMPARE(run->state(), RunState::Failed);
        QCOMPARE(run->summary().message, std::string("No data there."));
        QCOMPARE(run->summary().hint, std::string("Say where it is."));
        QCOMPARE(run->summary().steps, std::int64_t{0});
    }

    void aStartThatThrowsDoesNotKeepTheNextOneOut()
    {
        ScriptedEngine engine(RankScript{});
        auto broken = std::make_shared<bool>(true);
        engine.options.makeSource = [broken](const RunRequest&) -> std::unique_ptr<RankSource> {
            if (*broken)
                throw std::runtime_error("no source");
            return std::make_unique<ScriptedSource>(RankScript{});
        };
        engine.service = makeLocalService(engine.options);

        QVERIFY(!engine.tryStart());
        *broken = false;

        const auto run = engine.tryStart();
        QVERIFY2(run, run ? "" : run.error().message.c_str());
        QVERIFY((*run)->wait(10s));
    }

    void aPausedRunRestsUntilItIsResumed_data()
    {
        QTest::addColumn<int>("ranks");
        QTest::addRow("1 rank") << 1;
        QTest::addRow("3 ranks") << 3;
    }
    void aPausedRunRestsUntilItIsResumed()
    {
        QFETCH(const int, ranks);
        ScriptedEngine engine(slowScript(ranks, 60));
        const auto run = engine.start();
        std::vector<RunState> states;
        std::mutex mutex;
        const auto subscription = run->onStateChanged([&](const RunStateEvent& event) {
            const std::scoped_lock lock(mutex);
            states.push_back(event.state);
        });
        QTRY_VERIFY(run->progress().step > 3);

        run->pause();
        QTRY_COMPARE(run->state(), RunState::Paused);
        const auto rested = run->progress().step;
        QTest::qWait(60);
        QCOMPARE(run->progress().step, rested);
        QVERIFY(!run->wait(1ms));
        run->resume();

        QVERIFY(run->wait(10s));
        QCOMPARE(run->progress().step, std::int64_t{60});
        const std::scoped_lock lock(mutex);
        QVERIFY(states.size() >= 3);
        QCOMPARE((std::vector<RunState>(states.end() - 3, states.end())),
                 (std::vector<RunState>{RunState::Paused, RunState::Running, RunState::Finished}));
    }

    void aStopEndsAllRanksAfterOneStepWithACheckpoint_data()
    {
        QTest::addColumn<int>("ranks");
        QTest::addColumn<bool>("paused");
        QTest::addRow("1 rank") << 1 << false;
        QTest::addRow("4 ranks") << 4 << false;
        QTest::addRow("paused") << 2 << true;
    }
    void aStopEndsAllRanksAfterOneStepWithACheckpoint()
    {
        QFETCH(const int, ranks);
        QFETCH(const bool, paused);
        ScriptedEngine engine(slowScript(ranks, 100000));
        const auto run = engine.start();
        QTRY_VERIFY(run->progress().step > 2);
        if (paused) {
            run->pause();
            QTRY_COMPARE(run->state(), RunState::Paused);
        }

        run->stop();

        QVERIFY(run->wait(10s));
        const auto summary = run->summary();
        QCOMPARE(summary.state, RunState::Stopped);
        const auto checkpoints = (*RunReader::open(run->folder()))->checkpoints();
        QCOMPARE(checkpoints->size(), std::size_t{1});
        QCOMPARE(checkpoints->front().step, summary.steps - 1);
        const auto state = readCheckpoint(run->folder() / checkpoints->front().path);
        QVERIFY(state);
        QCOMPARE(state->tensors.front().second[0][0].item<double>(), static_cast<double>(summary.steps));
    }

    void aRunMayBeDroppedAtAnyMoment()
    {
        ScriptedEngine engine(slowScript(3, 100000));
        for (int attempt = 0; attempt < 25; ++attempt) {
            auto run = engine.start();
            const auto folder = run->folder();
            std::this_thread::sleep_for(std::chrono::microseconds(700 * attempt));
            if (attempt % 5 == 4)
                run->pause();

            run.reset();

            QCOMPARE((*RunReader::open(folder))->summary()->state, RunState::Stopped);
        }
    }

    void aDroppedRunWhoseStepIsTooLongIsInterrupted()
    {
        RankScript script;
        script.at = [](Communicator& comm, std::int64_t step, Stage at, const std::stop_token&) {
            if (comm.rank() == 0 && step == 1 && at == Stage::Forward)
                std::this_thread::sleep_for(400ms);
        };
        ScriptedEngine engine(script, 20s, 150ms);
        auto run = engine.start();
        const auto folder = run->folder();
        QTRY_VERIFY(run->progress().step == 1);

        run.reset();

        QCOMPARE((*RunReader::open(folder))->summary()->state, RunState::Interrupted);
        QTest::qWait(500);
    }

    void onlyOneRunTrainsAtATime()
    {
        ScriptedEngine engine(slowScript(2, 100000));
        auto first = engine.start();

        const auto second = engine.tryStart();

        QVERIFY(!second);
        QVERIFY(!second.error().hint.empty());
        first->stop();
        QVERIFY(first->wait(10s));
        QVERIFY(engine.tryStart());
    }

    void aHistoryThatCannotBeWrittenIsAnErrorOfTheStart()
    {
        ScriptedEngine engine({});
        RunRequest request;
        request.plan.ranks = 2;
        request.history = "/proc/nowhere";

        const auto run = engine.service->start(request);

        QVERIFY(!run);
        QCOMPARE(run.error().code, ErrorCode::Io);
    }

    void theEngineSaysWhatItRunsOn()
    {
        const auto report = makeLocalService()->describe();

        QVERIFY(report.name.starts_with("LibTorch 2."));
        QVERIFY(report.device.find("CPU") != std::string::npos
                && report.device.find("cores") != std::string::npos);
        QCOMPARE(report.notes.size(), std::size_t{2}); // about CUDA and about NCCL
    }
};

QTEST_GUILESS_MAIN(TestSession)
#include "tst_session.moc"
