#include "engine/comm/thread_group.h"
#include "tests/support/rank_threads.h"

#include <QElapsedTimer>
#include <QtTest>

#include <atomic>

using namespace mantissa;
using namespace std::chrono_literals;

namespace {

/// Rows and columns of a grid of ranks, as hybrid sharding has them.
struct Grid {
    Grid(Communicator& all, int columns)
        : row(all.split(all.rank() / columns)), column(all.split(all.rank() % columns))
    {
    }
    std::unique_ptr<Communicator> row;
    std::unique_ptr<Communicator> column;
};

std::string failureOf(const std::function<void()>& call)
{
    try {
        call();
    } catch (const CommError& error) {
        return error.what();
    }
    return {};
}

} // namespace

class TestSplit : public QObject {
    Q_OBJECT

private slots:
    void ranksOfOneColourMeetInTheOrderOfTheirRanks()
    {
        runRanks(6, [](Communicator& all) {
            const Grid grid(all, 3);
            require(grid.row->size() == 3 && grid.row->rank() == all.rank() % 3, "the row");
            require(grid.column->size() == 2 && grid.column->rank() == all.rank() / 3, "the column");
            float sum = static_cast<float>(all.rank());
            grid.row->allReduce(&sum, 1, WireType::F32, ReduceOp::Sum);
            require(sum == (all.rank() < 3 ? 3.0F : 12.0F), "the sum of a row");
            std::vector<float> gathered(2);
            const auto own = static_cast<float>(all.rank());
            grid.column->allGather(&own, gathered.data(), 1, WireType::F32);
            require(gathered[1] == gathered[0] + 3.0F, "a column in order");
        });
    }

    void aSplitOfASplitWorks()
    {
        runRanks(8, [](Communicator& all) {
            const auto half = all.split(all.rank() / 4);
            const auto quarter = half->split(half->rank() / 2);
            double sum = all.rank();
            quarter->allReduce(&sum, 1, WireType::F64, ReduceOp::Sum);
            require(sum == all.rank() / 2 * 4 + 1, "neighbours");
        });
    }

    void secondsInSplitsCount()
    {
        runRanks(2, [](Communicator& all) {
            const auto part = all.split(0);
            all.takeSeconds();
            if (all.rank() == 1)
                std::this_thread::sleep_for(30ms);
            part->barrier();
            require(all.rank() == 1 || all.takeSeconds() > 0.02, "the wait of rank 0");
        });
    }

    void anAbortReachesEveryGroup_data()
    {
        QTest::addColumn<bool>("fromPart");
        QTest::newRow("from the whole") << false;
        QTest::newRow("from a part") << true;
    }
    void anAbortReachesEveryGroup()
    {
        QFETCH(const bool, fromPart);
        std::atomic<int> told{0};
        QElapsedTimer timer;
        timer.start();
        runRanks(
            4,
            [&](Communicator& all) {
                const Grid grid(all, 2);
                all.barrier();
                if (all.rank() == 0) {
                    std::this_thread::sleep_for(20ms);
                    return (fromPart ? *grid.row : all).abort("enough");
                }
                // Rank 1 waits in its row, 2 in a column, 3 in the whole.
                const auto why = failureOf([&] {
                    (all.rank() == 1 ? *grid.row : all.rank() == 2 ? *grid.column : all).barrier();
                });
                told += why.find("enough") != std::string::npos ? 1 : 0;
            },
            20s);
        QCOMPARE(told.load(), 3);
        QVERIFY(timer.elapsed() < 5000);
    }

    void aTimeOutNamesTheRankThatAllOthersWaitFor()
    {
        // Rank 0 waits for rank 1 in its row, rank 2 for rank 0 in its column: it is rank 1 that is missing,
        // whoever loses patience first.
        for (int round = 0; round < 5; ++round) {
            ThreadGroup group(4, 100ms);
            std::atomic<int> ready{0};
            const auto run = [&](int rank) {
                const auto all = group.communicator(rank);
                const Grid grid(*all, 2);
                ++ready;
                while (ready < 4)
                    std::this_thread::yield();
                if (rank == 0) // later than rank 2, which then gives up first
                    std::this_thread::sleep_for(50ms);
                if (rank == 1)
                    return;
                (void)failureOf([&] { (rank == 2 ? *grid.column : *grid.row).barrier(); });
                if (rank == 3)
                    (void)failureOf([&] { grid.column->barrier(); });
            };
            {
                std::vector<std::jthread> threads;
                for (int rank = 0; rank < 4; ++rank)
                    threads.emplace_back(run, rank);
            }
            QVERIFY(group.aborted());
            const auto missing = group.missing();
            QVERIFY2(std::find(missing.begin(), missing.end(), 1) != missing.end(), group.reason().c_str());
            QVERIFY2(std::find(missing.begin(), missing.end(), 0) == missing.end(), group.reason().c_str());
        }
    }

    void aSplitAfterAnAbortFails()
    {
        ThreadGroup group(1, 1s);
        const auto all = group.communicator(0);
        const auto part = all->split(0);
        group.abort("over");
        QVERIFY(failureOf([&] { part->barrier(); }).find("over") != std::string::npos);
        QVERIFY(failureOf([&] { (void)all->split(0); }).find("over") != std::string::npos);
    }
};

QTEST_APPLESS_MAIN(TestSplit)
#include "tst_split.moc"
