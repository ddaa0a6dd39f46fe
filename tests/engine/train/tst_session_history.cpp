#include "engine/history/run_reader.h"
#include "engine/train/local_service.h"
#include "engine/train/session_recorder.h"
#include "tests/support/scripted_ranks.h"

#include <QTemporaryDir>
#include <QtTest>

#include <future>
#include <thread>

using namespace mantissa;
using namespace std::chrono_literals;

namespace {

using Clock = std::chrono::steady_clock;

/// A history as a test wants it: slow, full, or broken.
class OddWriter final : public RunWriter {
public:
    std::chrono::milliseconds perAppend{0};
    std::uint64_t lost = 0;
    std::optional<Error> trouble;
    bool finishThrows = false;

    std::string id() const override { return "odd"; }
    std::filesystem::path folder() const override { return m_folder.path().toStdString(); }
    void append(const std::vector<Sample>&) override { std::this_thread::sleep_for(perAppend); }
    void append(const RunEvent&) override { std::this_thread::sleep_for(perAppend); }
    void append(const std::vector<TensorHistogram>&) override {}
    void append(const CheckpointRecord&) override { std::this_thread::sleep_for(perAppend); }
    void setState(RunState) override {}
    Result<void> finish(RunState, std::int64_t) override
    {
        if (finishThrows)
            throw std::runtime_error("the disk caught fire");
        return health();
    }
    Result<void> health() const override { return trouble ? Result<void>(*trouble) : Result<void>(); }
    std::uint64_t lostCount() const override { return lost; }

private:
    QTemporaryDir m_folder;
};

StepReport stepReport(std::int64_t step)
{
    StepReport report;
    report.step = step;
    report.loss = static_cast<double>(step);
    report.stages = {Stage::Data};
    return report;
}

RunPlan ofOneRank()
{
    RunPlan plan;
    plan.ranks = 1;
    return plan;
}

/// A service whose runs have two scripted ranks and the writer that `make` gives.
std::unique_ptr<TrainingService> serviceWith(std::function<std::unique_ptr<RunWriter>()> make,
                                             RankScript script = {})
{
    SessionOptions options;
    options.makeSource = [script](const RunRequest&) { return std::make_unique<ScriptedSource>(script); };
    options.makeWriter = [make](const RunStart&) -> Result<std::unique_ptr<RunWriter>> { return make(); };
    return makeLocalService(options);
}

RunRequest ofTwoRanks()
{
    RunRequest request;
    request.plan.ranks = 2;
    return request;
}

bool tells(const std::vector<RunEvent>& events, const std::string& kind)
{
    return std::any_of(events.begin(), events.end(), [&](const auto& event) { return event.kind == kind; });
}

} // namespace

class TestSessionHistory : public QObject {
    Q_OBJECT

private slots:
    void aSlowDiskKeepsNobodyWaitingWhoOnlyAsks()
    {
        const auto writer = std::make_shared<OddWriter>();
        writer->perAppend = 300ms;
        SessionRecorder recorder(ofOneRank(), writer);
        std::atomic<bool> done = false;
        std::jthread rank([&] {
            for (std::int64_t step = 0; step < 3; ++step)
                recorder.post(0, stepReport(step));
            done = true;
        });

        auto longest = Clock::duration::zero();
        std::int64_t seen = 0;
        std::size_t events = 0;
        while (!done) {
            const auto begin = Clock::now();
            seen = recorder.progress().step;
            events += recorder.takeEvents().size();
            (void)recorder.lastValues();
            (void)recorder.feed().drain();
            longest = std::max(longest, Clock::now() - begin);
            std::this_thread::sleep_for(1ms);
        }

        QVERIFY2(longest < 100ms,
                 qPrintable(QString::number(std::chrono::duration<double>(longest).count())));
        QCOMPARE(seen, std::int64_t{3});
        QCOMPARE(events + recorder.takeEvents().size(), std::size_t{1}); // the stage trace
    }

    void pointsThatNobodyTookAreToldOnceAndCounted()
    {
        SessionRecorder recorder(ofOneRank(), std::make_shared<OddWriter>());
        for (std::int64_t step = 0; step < 12'000; ++step)
            recorder.post(0, stepReport(step));

        QVERIFY(recorder.progress().unshownPoints > 0);
        const auto events = recorder.takeEvents();
        QCOMPARE(std::count_if(events.begin(), events.end(),
                               [](const auto& event) { return event.kind == "feed_dropped"; }),
                 std::ptrdiff_t{1});
        QCOMPARE(recorder.progress().lostPoints, std::uint64_t{0});
    }

    void aHistoryThatLosesPointsIsInTheProgressTheEventsAndTheSummary()
    {
        const auto service = serviceWith([] {
            auto writer = std::make_unique<OddWriter>();
            writer->lost = 12;
            writer->trouble = Error{ErrorCode::Io, "No space is left.", "Make some."};
            return writer;
        });
        const auto run = *service->start(ofTwoRanks());
        QVERIFY(run->wait(10s));

        QCOMPARE(run->progress().lostPoints, std::uint64_t{12});
        QCOMPARE(run->progress().historyTrouble, std::string("No space is left. Make some."));
        QVERIFY(tells(run->takeEvents(), "history_lost"));
        QCOMPARE(run->summary().lostPoints, std::uint64_t{12});
        QCOMPARE(run->summary().state, RunState::Finished);
        const auto message = run->summary().message;
        QVERIFY2(message.find("12 records are lost. No space is left.") != std::string::npos,
                 message.c_str());
    }

    void troubleThatWasMadeGoodForIsNoFailure()
    {
        const auto service = serviceWith([] {
            auto writer = std::make_unique<OddWriter>();
            writer->trouble = Error{ErrorCode::Io, "No space is left.", "Make some."};
            return writer;
        });
        const auto run = *service->start(ofTwoRanks());
        QVERIFY(run->wait(10s));

        QCOMPARE(run->summary().message, std::string());
        QVERIFY(tells(run->takeEvents(), "history_lost"));
    }

    void anEndThatThrowsIsStillAnEnd()
    {
        const auto service = serviceWith([] {
            auto writer = std::make_unique<OddWriter>();
            writer->finishThrows = true;
            return writer;
        });
        const auto run = *service->start(ofTwoRanks());

        QVERIFY(run->wait(10s));

        const auto message = run->summary().message;
        QVERIFY2(message.find("the disk caught fire") != std::string::npos, message.c_str());
        QVERIFY(service->start(ofTwoRanks())); // it keeps nobody out
    }

    void aSubscriberThatThrowsAtTheEndIsNoEndOfTheProgram()
    {
        const auto service = serviceWith([] { return std::make_unique<OddWriter>(); });
        const auto run = *service->start(ofTwoRanks());
        const auto subscription = run->onStateChanged([](const RunStateEvent& event) {
            if (hasEnded(event.state))
                throw std::runtime_error("not today");
        });

        QVERIFY(run->wait(10s));
        QVERIFY(hasEnded(run->state()));
    }

    void aStuckRankKeepsTheNextRunOutUntilItIsThrough()
    {
        QTemporaryDir folder;
        std::promise<void> release;
        RankScript script;
        script.at = [released = release.get_future().share()](Communicator& comm, std::int64_t step, Stage at,
                                                              const std::stop_token&) {
            if (comm.rank() == 1 && step == 2 && at == Stage::Forward)
                released.wait();
        };
        SessionOptions options;
        options.collectiveTimeout = 100ms;
        options.patience = 200ms;
        options.makeSource = [script](const RunRequest&) { return std::make_unique<ScriptedSource>(script); };
        const auto service = makeLocalService(options);
        RunRequest request = ofTwoRanks();
        request.history = folder.path().toStdString();
        auto first = *service->start(request);
        QVERIFY(first->wait(10s));
        QVERIFY(first->leftRanksBehind());

        const auto refused = service->start(request);

        QVERIFY(!refused);
        QVERIFY2(refused.error().message.starts_with("1 rank of the run before never came back"),
                 refused.error().message.c_str());
        first.reset();
        QVERIFY(!service->start(request));
        release.set_value();
        QTRY_VERIFY(service->start(request));
    }
};

QTEST_GUILESS_MAIN(TestSessionHistory)
#include "tst_session_history.moc"
