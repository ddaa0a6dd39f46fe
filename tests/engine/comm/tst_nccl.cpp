#include "engine/comm/nccl_group.h"
#include "tests/support/rank_threads.h"
#include "tests/support/stand_in_nccl.h"

#include <QElapsedTimer>
#include <QtTest>

#include <cmath>
#include <dlfcn.h>
#include <functional>

using namespace mantissa;
using namespace std::chrono_literals;

namespace {

NcclNames standInNames()
{
    return {{STAND_IN_NCCL}, {STAND_IN_NCCL}};
}

StandIn standInControl()
{
    void* handle = dlopen(STAND_IN_NCCL, RTLD_NOW | RTLD_LOCAL);
    return reinterpret_cast<StandIn (*)()>(dlsym(handle, "standIn"))();
}

/// Ranks over the stand-in. What each threw, empty where nothing.
std::vector<std::string> runOverNccl(int ranks, const std::function<void(Communicator&)>& body,
                                     std::chrono::milliseconds timeout = 20s, NcclGroup** group = nullptr)
{
    const auto library = NcclLibrary::open(standInNames());
    if (!library)
        return {library.error().message};
    auto made = NcclGroup::make(*library, ranks, timeout);
    if (!made)
        return {made.error().message};
    if (group)
        *group = made->get();
    std::vector<std::string> failures(static_cast<std::size_t>(ranks));
    {
        std::vector<std::jthread> threads;
        for (int rank = 0; rank < ranks; ++rank)
            threads.emplace_back([&, rank] {
                try {
                    const auto communicator = (*made)->communicator(rank);
                    body(*communicator);
                } catch (const std::exception& error) {
                    failures[static_cast<std::size_t>(rank)] = error.what();
                    (*made)->abort(error.what());
                }
            });
    }
    if (group)
        *group = made->release(); // for what the test still asks; the process ends soon
    return failures;
}

bool allEmpty(const std::vector<std::string>& failures)
{
    for (const auto& failure : failures) {
        if (!failure.empty())
            qWarning("%s", failure.c_str());
    }
    return std::all_of(failures.begin(), failures.end(), [](const auto& failure) { return failure.empty(); });
}

void rankColumns()
{
    QTest::addColumn<int>("ranks");
    for (const int ranks : {1, 2, 4})
        QTest::addRow("%d ranks", ranks) << ranks;
}

void everyCollective(Communicator& comm)
{
    const int ranks = comm.size();
    const auto own = static_cast<float>(comm.rank());
    std::vector<float> sum(101, own);
    comm.allReduce(sum.data(), sum.size(), WireType::F32, ReduceOp::Sum);
    require(sum[100] == static_cast<float>(ranks * (ranks - 1) / 2), "the sum");
    std::vector<double> most(3, own);
    comm.allReduce(most.data(), most.size(), WireType::F64, ReduceOp::Max);
    require(most[0] == ranks - 1.0, "the greatest");
    std::vector<std::int64_t> gathered(static_cast<std::size_t>(2 * ranks), -1);
    std::int64_t* place = gathered.data() + 2 * comm.rank();
    place[0] = place[1] = comm.rank();
    comm.allGather(place, gathered.data(), 2, WireType::I64); // in place
    for (int i = 0; i < 2 * ranks; ++i)
        require(gathered[static_cast<std::size_t>(i)] == i / 2, "the order");
    std::vector<std::uint16_t> ones(static_cast<std::size_t>(5 * ranks), 0x3f80); // 1 in bf16
    std::vector<std::uint16_t> part(5);
    comm.reduceScatter(ones.data(), part.data(), part.size(), WireType::BF16);
    require(part[4] == (ranks == 1 ? 0x3f80 : ranks == 2 ? 0x4000 : 0x4080), "bf16");
    std::vector<std::uint16_t> halves(4, 0x3800); // 0.5 in fp16
    comm.allReduce(halves.data(), halves.size(), WireType::F16, ReduceOp::Sum);
    require(halves[0] == (ranks == 1 ? 0x3800 : ranks == 2 ? 0x3c00 : 0x4000), "fp16");
    int value = comm.rank() * 10;
    comm.broadcast(&value, sizeof value, ranks - 1);
    require(value == (ranks - 1) * 10, "the root's value");
    comm.barrier();
    comm.allReduce(nullptr, 0, WireType::F32, ReduceOp::Sum); // nothing to send is fine
}

} // namespace

class TestNccl : public QObject {
    Q_OBJECT

private slots:
    void init()
    {
        m_control = standInControl();
        m_control.reset(8);
    }

    void everyCollectiveIsThatOfThreads_data() { rankColumns(); }
    void everyCollectiveIsThatOfThreads()
    {
        QFETCH(const int, ranks);
        runRanks(ranks, everyCollective);
        QVERIFY(allEmpty(runOverNccl(ranks, everyCollective)));
        QCOMPARE(m_control.communicators(), 0);
        QCOMPARE(m_control.buffers(), 0);
    }

    void aGridOfRanksIsSplit()
    {
        QVERIFY(allEmpty(runOverNccl(4, [](Communicator& all) {
            const auto row = all.split(all.rank() / 2);
            const auto column = all.split(all.rank() % 2);
            require(row->size() == 2 && row->rank() == all.rank() % 2, "the row");
            double sum = all.rank();
            row->allReduce(&sum, 1, WireType::F64, ReduceOp::Sum);
            require(sum == (all.rank() < 2 ? 1.0 : 5.0), "the sum of the row");
            column->allReduce(&sum, 1, WireType::F64, ReduceOp::Sum);
            require(sum == 6.0, "and of the column");
        })));
    }

    void aCallThatFailsEndsAllRanksWithItsCause_data()
    {
        QTest::addColumn<bool>("later");
        QTest::newRow("at the call") << false;
        QTest::newRow("in the background") << true;
    }
    void aCallThatFailsEndsAllRanksWithItsCause()
    {
        QFETCH(const bool, later);
        for (int rank = 0; rank < 4; ++rank) {
            m_control.reset(8);
            (later ? m_control.failLater : m_control.failAt)(rank, 3, later ? 6 : 2);
            QElapsedTimer timer;
            timer.start();
            const auto failures = runOverNccl(4, [](Communicator& comm) {
                float value = 1.0F;
                for (int call = 0; call < 10; ++call)
                    comm.allReduce(&value, 1, WireType::F32, ReduceOp::Sum);
            });

            for (const auto& failure : failures) {
                const auto words = QString::fromStdString(failure);
                QVERIFY2(words.contains(later ? "remote process exited" : "system error"), failure.c_str());
                QVERIFY2(words.contains(QString("rank %1 in all-reduce (sum)").arg(rank)), failure.c_str());
                QVERIFY2(words.contains("injected by a test"), failure.c_str()); // NCCL's own last word
            }
            QVERIFY(timer.elapsed() < 5000);
            QCOMPARE(m_control.communicators(), 0);
        }
    }

    void aRankThatStaysAwayIsNamedByTheTimeOut()
    {
        NcclGroup* group = nullptr;
        const auto failures = runOverNccl(
            3,
            [](Communicator& comm) {
                comm.barrier();
                if (comm.rank() != 1)
                    comm.barrier();
                else
                    std::this_thread::sleep_for(400ms);
            },
            100ms, &group);
        QVERIFY(
            QString::fromStdString(failures[0]).contains("time-out after 100 ms in barrier: rank 1 did not"));
        QVERIFY(!failures[2].empty());
        QCOMPARE(group->missing(), std::vector<int>{1});
        delete group;
    }

    void ranksThatCallDifferentThingsEndByTheTimeOut()
    {
        const auto failures = runOverNccl(
            2,
            [](Communicator& comm) {
                const auto part = comm.split(comm.rank());
                if (comm.rank() == 0)
                    comm.barrier(); // the other one never comes: it waits elsewhere
                else
                    std::this_thread::sleep_for(300ms);
            },
            100ms);
        QVERIFY(!failures[0].empty());
    }

    void anAbortFromOutsideWakesAWaitingRank()
    {
        const auto library = NcclLibrary::open(standInNames());
        const auto group = NcclGroup::make(*library, 2, 30s);
        std::string failure;
        QElapsedTimer timer;
        timer.start();
        {
            const std::jthread waiting([&] {
                try {
                    const auto communicator = (*group)->communicator(0); // rank 1 never joins
                } catch (const CommError& error) {
                    failure = error.what();
                }
            });
            std::this_thread::sleep_for(30ms);
            (*group)->abort("stopped by hand");
        }
        QVERIFY2(failure.find("stopped by hand") != std::string::npos, failure.c_str());
        QVERIFY(timer.elapsed() < 5000);
    }

    void whatIsMissingIsSaid()
    {
        const auto none =
            NcclLibrary::open({{"libnccl-that-is-nowhere.so"}, {"libcudart-that-is-nowhere.so"}});
        QVERIFY(!none);
        QCOMPARE(none.error().code, ErrorCode::NotHere);
        QVERIFY(QString::fromStdString(none.error().message).contains("no CUDA runtime was found"));
        QVERIFY(QString::fromStdString(none.error().hint).contains("threads"));

        const auto noNccl = NcclLibrary::find({{"libnccl-that-is-nowhere.so"}, {STAND_IN_NCCL}});
        QVERIFY(QString::fromStdString(noNccl.problem).contains("no NCCL was found"));
        QCOMPARE(noNccl.gpus, 8);

        m_control.reset(0);
        QVERIFY(QString::fromStdString(NcclLibrary::find(standInNames()).problem).contains("no NVIDIA GPU"));

        m_control.reset(2);
        const auto failures = runOverNccl(4, everyCollective);
        QCOMPARE(QString::fromStdString(failures.front()),
                 QString("NCCL needs a GPU for each rank: there are 4 ranks and 2 here."));

        m_control.reset(8);
        const auto found = NcclLibrary::find(standInNames());
        QCOMPARE(found.problem, std::string());
        QCOMPARE(ncclVersionText(found.version), std::string("2.28.9"));
    }

private:
    StandIn m_control{};
};

QTEST_APPLESS_MAIN(TestNccl)
#include "tst_nccl.moc"
