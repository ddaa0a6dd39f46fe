#include "tests/support/rank_threads.h"

#include <QtTest>

#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <random>

using namespace mantissa;
using namespace std::chrono_literals;

namespace {

/// What an ordinary run of collectives looks like, with a new size each time.
void someCollectives(Communicator& comm, std::size_t round)
{
    const std::size_t count = 700 + 13 * round;
    const auto ranks = static_cast<std::size_t>(comm.size());
    const std::vector<float> whole(count * ranks, 1.0F);
    std::vector<float> shard(count);
    std::vector<float> gathered(count * ranks);
    comm.reduceScatter(whole.data(), shard.data(), count, WireType::F32);
    comm.allGather(shard.data(), gathered.data(), count, WireType::F32);
    comm.allReduce(gathered.data(), gathered.size(), WireType::F32, ReduceOp::Sum);
    if (gathered.back() != static_cast<float>(ranks * ranks))
        throw std::logic_error("wrong sum");
}

std::string messageOf(const std::function<void()>& body)
{
    try {
        body();
    } catch (const std::exception& error) {
        return error.what();
    }
    return {};
}

void rankColumns()
{
    QTest::addColumn<int>("ranks");
    for (const int ranks : {1, 2, 3, 4})
        QTest::addRow("%d ranks", ranks) << ranks;
}

} // namespace

class TestThreadGroup : public QObject {
    Q_OBJECT

private slots:
    void allReduceGivesEveryRankTheSum_data() { rankColumns(); }
    void allReduceGivesEveryRankTheSum()
    {
        QFETCH(const int, ranks);
        runRanks(ranks, [ranks](Communicator& comm) {
            std::vector<float> values(1001, static_cast<float>(comm.rank()));
            comm.allReduce(values.data(), values.size(), WireType::F32, ReduceOp::Sum);
            for (const float value : values)
                require(value == static_cast<float>(ranks * (ranks - 1) / 2), "the sum");
        });
    }

    void reduceScatterGivesEachRankItsPart_data() { rankColumns(); }
    void reduceScatterGivesEachRankItsPart()
    {
        QFETCH(const int, ranks);
        runRanks(ranks, [ranks](Communicator& comm) {
            std::vector<double> in(static_cast<std::size_t>(5 * ranks));
            std::iota(in.begin(), in.end(), static_cast<double>(comm.rank()));
            std::vector<double> out(5);
            comm.reduceScatter(in.data(), out.data(), out.size(), WireType::F64);
            for (int i = 0; i < 5; ++i)
                require(out[static_cast<std::size_t>(i)]
                            == ranks * (comm.rank() * 5 + i) + ranks * (ranks - 1) / 2,
                        "its part");
        });
    }

    void allGatherKeepsTheOrderOfRanksAlsoInPlace_data() { rankColumns(); }
    void allGatherKeepsTheOrderOfRanksAlsoInPlace()
    {
        QFETCH(const int, ranks);
        runRanks(ranks, [ranks](Communicator& comm) {
            std::vector<std::int64_t> out(static_cast<std::size_t>(3 * ranks), -1);
            auto* own = out.data() + 3 * comm.rank();
            std::fill(own, own + 3, comm.rank());
            comm.allGather(own, out.data(), 3, WireType::I64);
            for (int i = 0; i < 3 * ranks; ++i)
                require(out[static_cast<std::size_t>(i)] == i / 3, "the order");
        });
    }

    void broadcastComesFromTheRoot_data() { rankColumns(); }
    void broadcastComesFromTheRoot()
    {
        QFETCH(const int, ranks);
        runRanks(ranks, [ranks](Communicator& comm) {
            int value = comm.rank() * 10;
            comm.broadcast(&value, sizeof value, ranks - 1);
            require(value == (ranks - 1) * 10, "the root's value");
        });
    }

    void emptyBuffersAreFine()
    {
        runRanks(2, [](Communicator& comm) {
            comm.allReduce(nullptr, 0, WireType::F32, ReduceOp::Sum);
            comm.allGather(nullptr, nullptr, 0, WireType::F32);
            comm.broadcast(nullptr, 0, 0);
            comm.barrier();
        });
    }

    void aSumHasTheSameBitsEveryTime()
    {
        std::vector<std::vector<float>> results(5);
        for (auto& result : results) {
            runRanks(4, [&result](Communicator& comm) {
                std::mt19937 random(static_cast<unsigned>(comm.rank()));
                std::normal_distribution<float> normal;
                std::vector<float> values(5003);
                std::generate(values.begin(), values.end(), [&] { return normal(random); });
                comm.allReduce(values.data(), values.size(), WireType::F32, ReduceOp::Sum);
                if (comm.rank() == 3)
                    result = values;
            });
        }

        for (const auto& result : results)
            QCOMPARE(result, results.front());
    }

    void aNanOnOneRankReachesAllInAMax()
    {
        runRanks(4, [](Communicator& comm) {
            std::vector<float> values(7, static_cast<float>(comm.rank()));
            if (comm.rank() == 1)
                values[4] = std::numeric_limits<float>::quiet_NaN();
            comm.allReduce(values.data(), values.size(), WireType::F32, ReduceOp::Max);
            require(values[0] == 3.0F, "the greatest");
            require(std::isnan(values[4]), "a NaN");
        });
    }

    void timeInsideCollectivesIsCountedOnce()
    {
        runRanks(2, [](Communicator& comm) {
            if (comm.rank() == 1)
                std::this_thread::sleep_for(60ms);
            comm.barrier();
            const double seconds = comm.takeSeconds();
            require(comm.rank() == 1 || seconds > 0.03, "the wait was counted");
            require(comm.takeSeconds() == 0.0, "it was taken");
        });
    }

    void aThrowingRankWakesTheOthersWithItsReason()
    {
        std::mutex mutex;
        std::vector<std::string> heard;
        const auto start = std::chrono::steady_clock::now();

        const auto message = messageOf([&] {
            runRanks(4, [&](Communicator& comm) {
                if (comm.rank() == 2) {
                    std::this_thread::sleep_for(20ms);
                    throw std::runtime_error("the disk is full");
                }
                const auto words = messageOf([&comm] { comm.barrier(); });
                const std::scoped_lock lock(mutex);
                heard.push_back(words);
            });
        });

        QCOMPARE(message, std::string("the disk is full"));
        QCOMPARE(heard.size(), std::size_t{3});
        for (const auto& words : heard)
            QVERIFY2(words.find("rank 2 failed: the disk is full") != std::string::npos, words.c_str());
        QVERIFY(std::chrono::steady_clock::now() - start < 5s);
    }

    void aTimeOutNamesTheMissingRanks()
    {
        ThreadGroup group(3, 100ms);
        std::vector<std::string> heard(3);
        {
            std::vector<std::jthread> threads;
            for (const int rank : {0, 1, 2})
                threads.emplace_back([&group, &heard, rank] {
                    const auto comm = group.communicator(rank);
                    if (rank == 1)
                        std::this_thread::sleep_for(400ms);
                    float value = 0.0F;
                    heard[static_cast<std::size_t>(rank)] =
                        messageOf([&] { comm->allReduce(&value, 1, WireType::F32, ReduceOp::Sum); });
                });
        }

        QCOMPARE(group.missing(), std::vector{1});
        for (const auto& words : heard)
            QVERIFY2(words.find("time-out after 100 ms in all-reduce (sum) of 1 f32: rank 1 did not arrive")
                         != std::string::npos,
                     words.c_str());
    }

    void ranksThatDisagreeAreToldHow_data()
    {
        QTest::addColumn<int>("kind");
        QTest::addColumn<QString>("words");
        QTest::newRow("operation") << 0 << "rank 0 called all-reduce (sum) of 4 f32, rank 1 called barrier";
        QTest::newRow("count")
            << 1 << "rank 0 called all-reduce (sum) of 4 f32, rank 1 called all-reduce (sum) of 3 f32";
        QTest::newRow("type")
            << 2 << "rank 0 called all-reduce (sum) of 4 f32, rank 1 called all-reduce (sum) of 4 f64";
        QTest::newRow("reduction")
            << 3 << "rank 0 called all-reduce (sum) of 4 f32, rank 1 called all-reduce (max) of 4 f32";
    }
    void ranksThatDisagreeAreToldHow()
    {
        QFETCH(const int, kind);
        QFETCH(const QString, words);
        const auto message = messageOf([kind] {
            runRanks(2, [kind](Communicator& comm) {
                std::array<double, 4> values{};
                if (comm.rank() == 0 || kind > 3)
                    comm.allReduce(values.data(), 4, WireType::F32, ReduceOp::Sum);
                else if (kind == 0)
                    comm.barrier();
                else
                    comm.allReduce(values.data(), kind == 1 ? 3 : 4,
                                   kind == 2 ? WireType::F64 : WireType::F32,
                                   kind == 3 ? ReduceOp::Max : ReduceOp::Sum);
            });
        });

        QVERIFY2(message.find(words.toStdString()) != std::string::npos, message.c_str());
    }

    void aGroupThatWasAbortedRefusesNewCalls()
    {
        ThreadGroup group(2, 1s);
        group.abort("stopped");
        group.abort("a later reason");

        const auto words = messageOf([&group] { group.communicator(0)->barrier(); });

        QCOMPARE(words, std::string("rank 0: stopped"));
        QVERIFY(group.aborted());
    }

    void abortsAtAnyMomentEndEveryRank_data()
    {
        QTest::addColumn<int>("ranks");
        QTest::addRow("2 ranks") << 2;
        QTest::addRow("4 ranks") << 4;
    }
    void abortsAtAnyMomentEndEveryRank()
    {
        QFETCH(const int, ranks);
        for (std::size_t attempt = 0; attempt < 100; ++attempt) {
            const auto message = messageOf([&] {
                runRanks(ranks, [&](Communicator& comm) {
                    for (std::size_t round = 0; round < 60; ++round) {
                        someCollectives(comm, round);
                        if (round == attempt % 59 && comm.rank() == static_cast<int>(attempt) % ranks)
                            throw std::runtime_error("enough");
                    }
                });
            });
            QVERIFY2(message == "enough" || message.find("enough") != std::string::npos, message.c_str());
        }
    }

    void anAbortFromOutsideEndsEveryRank()
    {
        for (int attempt = 0; attempt < 20; ++attempt) {
            ThreadGroup group(3, 30s);
            std::atomic<int> ended{0};
            {
                std::vector<std::jthread> threads;
                for (const int rank : {0, 1, 2})
                    threads.emplace_back([&group, &ended, rank] {
                        const auto comm = group.communicator(rank);
                        const auto words = messageOf([&comm] {
                            for (std::size_t round = 0;; ++round)
                                someCollectives(*comm, round % 7);
                        });
                        ended += words.find("the window was closed") != std::string::npos ? 1 : 0;
                    });
                std::this_thread::sleep_for(std::chrono::microseconds(300 * attempt));
                group.abort("the window was closed");
            }
            QCOMPARE(ended.load(), 3);
        }
    }
};

QTEST_APPLESS_MAIN(TestThreadGroup)
#include "tst_thread_group.moc"
