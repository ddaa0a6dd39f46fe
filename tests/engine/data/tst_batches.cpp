#include "engine/data/data_set.h"
#include "engine/data/idx.h"
#include "engine/data/loader.h"
#include "engine/data/sampler.h"

#include <QTemporaryDir>
#include <QTest>

#include <fstream>
#include <set>
#include <thread>

using namespace mantissa;

namespace {

Sampler samplerOf(std::int64_t samples, std::int64_t joint, int ranks, std::uint64_t seed = 7)
{
    return Sampler({samples, joint, ranks, -1, seed, true});
}

std::string idx(std::initializer_list<int> sizes, std::size_t bytes, char kind = 0x08)
{
    std::string content = {0, 0, kind, static_cast<char>(sizes.size())};
    for (const int size : sizes)
        content += {static_cast<char>(size >> 24), static_cast<char>(size >> 16),
                    static_cast<char>(size >> 8), static_cast<char>(size)};
    return content + std::string(bytes, '\2');
}

RunPlan syntheticPlan()
{
    RunPlan plan;
    plan.data = SyntheticPlan{"vectors", 8, 3, 64};
    plan.model = MlpPlan{8, 16, 3, 2};
    return plan;
}

/// What such a plan trains on.
Result<std::shared_ptr<const DataSet>> openOnly(const RunPlan& plan)
{
    auto opened = openData(plan);
    if (!opened)
        return opened.error();
    return opened->train;
}

} // namespace

class TestBatches : public QObject {
    Q_OBJECT

private slots:
    void anEpochHasEverySampleOnce()
    {
        const Sampler sampler = samplerOf(100, 20, 4);
        const auto order = sampler.order(3);
        std::multiset<std::int64_t> seen;

        for (std::int64_t batch = 0; batch < sampler.batchesPerEpoch(); ++batch) {
            for (int rank = 0; rank < 4; ++rank) {
                const auto rows = sampler.rows(order, batch, rank);
                QCOMPARE(rows.size(), std::size_t{5});
                seen.insert(rows.begin(), rows.end());
            }
        }

        QCOMPARE(seen.size(), std::size_t{100});
        QCOMPARE(std::set<std::int64_t>(seen.begin(), seen.end()).size(), std::size_t{100});
    }

    void theOrderDependsOnSeedAndEpochAlone()
    {
        QCOMPARE(samplerOf(50, 10, 1).order(2), samplerOf(50, 10, 2).order(2));
        QVERIFY(samplerOf(50, 10, 1).order(2) != samplerOf(50, 10, 1).order(3));
        QVERIFY(samplerOf(50, 10, 1, 7).order(2) != samplerOf(50, 10, 1, 8).order(2));
    }

    void theRanksSplitTheJointBatchInRows()
    {
        const Sampler alone = samplerOf(64, 16, 1);
        const Sampler two = samplerOf(64, 16, 2);
        auto joined = two.rows(two.order(0), 1, 0);
        const auto second = two.rows(two.order(0), 1, 1);
        joined.insert(joined.end(), second.begin(), second.end());

        QCOMPARE(joined, alone.rows(alone.order(0), 1, 0));
    }

    void theLoaderGivesEachRankItsBatchesInOrder()
    {
        const auto data = openOnly(syntheticPlan());
        const Sampler sampler = samplerOf(64, 16, 2);
        Loader loader(*data, sampler, 2);

        for (std::int64_t step = 0; step < 10; ++step) {
            const std::int64_t epoch = step / sampler.batchesPerEpoch();
            const std::int64_t batch = step % sampler.batchesPerEpoch();
            for (int rank = 0; rank < 2; ++rank) {
                const Batch expected = (*data)->take(sampler.rows(sampler.order(epoch), batch, rank));
                const Batch got = loader.next(rank);
                QVERIFY(at::equal(got.input, expected.input));
                QVERIFY(at::equal(got.target, expected.target));
            }
        }
    }

    void aRankMayGoOnFromAnyPlace()
    {
        const auto data = openOnly(syntheticPlan());
        const Sampler sampler = samplerOf(64, 16, 1);
        Loader loader(*data, sampler, 1);
        (void)loader.next(0);

        loader.seek(0, {5, 2});

        QVERIFY(at::equal(loader.next(0).input, (*data)->take(sampler.rows(sampler.order(5), 2, 0)).input));
        QVERIFY(at::equal(loader.next(0).input, (*data)->take(sampler.rows(sampler.order(5), 3, 0)).input));
        QVERIFY(at::equal(loader.next(0).input, (*data)->take(sampler.rows(sampler.order(6), 0, 0)).input));
    }

    void closingWakesWhoWaits()
    {
        const auto data = openOnly(syntheticPlan());
        Loader loader(*data, samplerOf(64, 16, 1), 1);
        std::string heard;
        std::jthread rank([&] {
            try {
                while (true)
                    (void)loader.next(0);
            } catch (const std::runtime_error& error) {
                heard = error.what();
            }
        });

        loader.close("enough");
        rank.join();

        QCOMPARE(heard, std::string("enough"));
    }

    void syntheticDataDependsOnTheSeedAlone()
    {
        const SyntheticPlan plan{"tokens", 12, 50, 20};
        const std::vector<std::int64_t> some = {3, 19, 0};
        const auto first = openSynthetic(plan, 1);
        const auto again = openSynthetic(plan, 1);
        const auto other = openSynthetic(plan, 2);

        QVERIFY(at::equal((*first)->take(some).input, (*again)->take(some).input));
        QVERIFY(!at::equal((*first)->take(some).input, (*other)->take(some).input));
        QVERIFY(
            at::equal((*first)->take(some).input.slice(1, 1), (*first)->take(some).target.slice(1, 0, 11)));
    }

    void textIsReadByteByByte()
    {
        std::ofstream(path("text")) << "abcdefghij";

        const auto data = openText({path("text"), 4});

        QVERIFY(data);
        QCOMPARE((*data)->size(), std::int64_t{2});
        const std::vector<std::int64_t> second = {1};
        const Batch batch = (*data)->take(second);
        QCOMPARE(batch.input[0][0].item<std::int64_t>(), std::int64_t{'e'});
        QCOMPARE(batch.target[0][3].item<std::int64_t>(), std::int64_t{'i'});
    }

    void fashionMnistOfDebianIsRead()
    {
        const auto data = openFashionMnist({});
        if (!data)
            QSKIP("the package dataset-fashion-mnist is not installed");

        QCOMPARE((*data)->size(), std::int64_t{60000});
        const std::vector<std::int64_t> first = {0, 1, 2};
        const Batch batch = (*data)->take(first);
        QCOMPARE(batch.input.size(1), std::int64_t{784});
        QCOMPARE(batch.target[0].item<std::int64_t>(), std::int64_t{9}); // An ankle boot.
    }

    void missingFashionMnistSaysHowToGetIt()
    {
        const auto data = openFashionMnist({path("nowhere"), true});

        QVERIFY(!data);
        QCOMPARE(data.error().code, ErrorCode::NotFound);
        QVERIFY(data.error().hint.find("train-images-idx3-ubyte") != std::string::npos);
    }

    void aBrokenIdxFileIsRefused_data()
    {
        QTest::addColumn<QByteArray>("content");
        const auto row = [](const char* name, const std::string& content) {
            QTest::newRow(name) << QByteArray(content.data(), static_cast<qsizetype>(content.size()));
        };
        row("empty", "");
        row("text", "hello, this is text");
        row("floats", idx({4}, 4, 0x0D));
        row("too short", idx({4, 4}, 15));
        row("too long", idx({4, 4}, 17));
        row("huge", idx({0x7FFFFFFF, 0x7FFFFFFF}, 10));
        row("no sizes", idx({}, 0));
        row("a size of zero", idx({0, 4}, 0));
    }
    void aBrokenIdxFileIsRefused()
    {
        QFETCH(QByteArray, content);
        std::ofstream(path("idx"), std::ios::binary) << content.toStdString();

        const auto bytes = readIdx(path("idx"));

        QVERIFY(!bytes);
        QCOMPARE(bytes.error().code, ErrorCode::Damaged);
    }

    void aModelThatDoesNotFitTheDataIsNamed()
    {
        RunPlan plan = syntheticPlan();
        plan.model = MlpPlan{9, 16, 3, 2};
        const auto inputs = openOnly(plan);
        plan.model = MlpPlan{8, 16, 2, 2};
        const auto classes = openOnly(plan);

        QVERIFY(!inputs && inputs.error().hint.find("model.init_args.inputs") != std::string::npos);
        QVERIFY(!classes && classes.error().hint.find("model.init_args.classes") != std::string::npos);
    }

private:
    std::string path(const char* name) const { return (m_folder.path() + "/" + name).toStdString(); }

    QTemporaryDir m_folder;
};

QTEST_APPLESS_MAIN(TestBatches)
#include "tst_batches.moc"
