#include "tests/support/sharded_training.h"

#include <QtTest>

using namespace mantissa;

namespace {

std::unique_ptr<Model> sandwich(bool tied, bool twice)
{
    return std::make_unique<SandwichModel>(40, 24, tied, twice);
}

} // namespace

class TestStrategyEquality : public QObject {
    Q_OBJECT

private slots:
    void initTestCase() { at::set_num_threads(1); }

    void ranksTrainAsOneRankOnTheJointBatch_data()
    {
        QTest::addColumn<int>("kind");
        QTest::addColumn<int>("ranks");
        QTest::addColumn<int>("model");
        QTest::addColumn<int>("microBatches");
        QTest::addColumn<bool>("syncEach");
        for (const auto which : kKinds) {
            const int kind = static_cast<int>(which);
            const char* name = nameOf(which);
            for (const int ranks : {2, 4}) {
                QTest::addRow("%s, %d ranks", name, ranks) << kind << ranks << 0 << 1 << false;
                QTest::addRow("%s, %d ranks, window of 4", name, ranks) << kind << ranks << 0 << 4 << false;
                QTest::addRow("%s, %d ranks, window of 4, each reduced", name, ranks)
                    << kind << ranks << 0 << 4 << true;
                QTest::addRow("%s, %d ranks, root below and above", name, ranks)
                    << kind << ranks << 1 << 1 << false;
                QTest::addRow("%s, %d ranks, tied", name, ranks) << kind << ranks << 2 << 2 << false;
                QTest::addRow("%s, %d ranks, root entered twice", name, ranks)
                    << kind << ranks << 3 << 1 << false;
            }
        }
    }
    void ranksTrainAsOneRankOnTheJointBatch()
    {
        QFETCH(const int, kind);
        QFETCH(const int, ranks);
        QFETCH(const int, model);
        QFETCH(const int, microBatches);
        QFETCH(const bool, syncEach);
        SmallTraining training;
        training.microBatches = microBatches;
        training.tokens = model != 0;
        if (model != 0)
            training.model = [model] { return sandwich(model == 2, model == 3); };
        const auto one = train(training);

        training.kind = static_cast<Kind>(kind);
        training.ranks = ranks;
        training.syncEach = syncEach;
        const auto many = train(training);

        const double difference = largestRelativeDifference(many, one);
        QVERIFY2(difference <= 1e-5, qPrintable(QString::number(difference)));
        QVERIFY(difference > 0.0); // a comparison with itself would show nothing
    }

    void oneShardedRankHasTheBitsOfAPlainOne()
    {
        SmallTraining training;
        const auto plain = train(training);

        training.kind = Kind::Fsdp;
        const auto sharded = train(training);

        QVERIFY(sameBits(plain, sharded));
    }

    void aRepeatHasTheSameBits_data()
    {
        QTest::addColumn<int>("kind");
        QTest::addColumn<int>("stored");
        QTest::addColumn<int>("param");
        const auto row = [](const char* name, int kind, at::ScalarType stored, at::ScalarType param) {
            QTest::newRow(name) << kind << static_cast<int>(stored) << static_cast<int>(param);
        };
        row("ddp fp32", 0, at::kFloat, at::kFloat);
        row("ddp bf16", 0, at::kBFloat16, at::kBFloat16);
        row("fsdp fp32", 1, at::kFloat, at::kFloat);
        row("fsdp bf16 over fp32", 1, at::kFloat, at::kBFloat16);
        row("fsdp fp16 over fp32", 1, at::kFloat, at::kHalf);
        row("fsdp fp16", 1, at::kHalf, at::kHalf);
    }
    void aRepeatHasTheSameBits()
    {
        QFETCH(const int, kind);
        QFETCH(const int, stored);
        QFETCH(const int, param);
        SmallTraining training;
        training.kind = static_cast<Kind>(kind);
        training.ranks = 2;
        training.dtypes = {static_cast<at::ScalarType>(stored), static_cast<at::ScalarType>(param),
                           static_cast<at::ScalarType>(param)};

        const auto first = train(training);

        QVERIFY(first.losses.back() < first.losses.front());
        QVERIFY(sameBits(first, train(training)));
        QCOMPARE(static_cast<int>(first.parameters.begin()->second.scalar_type()), stored);
    }

    void sixteenBitWeightsStayNearTheSingleOnes()
    {
        SmallTraining training;
        const auto single = train(training);

        training.kind = Kind::Fsdp;
        training.ranks = 2;
        training.dtypes = {at::kFloat, at::kBFloat16, at::kFloat};
        const auto half = train(training);

        const double difference = largestRelativeDifference(half, single);
        QVERIFY2(difference > 1e-4 && difference < 0.1, qPrintable(QString::number(difference)));
    }

    void theMeanIsTakenBeforeSixteenBitSumsCanOverflow()
    {
        // 40000 on each of two ranks: the sum is past fp16, the mean is not.
        for (const auto kind : {Kind::Replica, Kind::Fsdp}) {
            runRanks(2, [kind](Communicator& comm) {
                SmallTraining training;
                training.kind = kind;
                training.dtypes = {at::kHalf, at::kHalf, at::kHalf};
                LayersModel model({4, 4});
                const auto strategy = strategyFor(training, model, comm);
                strategy->setSync(true);
                const auto weights = strategy->enter(0);
                torch::autograd::backward({weights[0].sum() + weights[1].sum()},
                                          {at::full({}, 40000.0, at::kHalf)});
                strategy->endOfBackward();
                require(strategy->takeNonfiniteBefore().count == 0, "nothing overflowed");
                strategy->reduceGradients();
                for (const auto& parameter : strategy->parameters())
                    require(parameter.grad().numel() == 0
                                || at::all(parameter.grad() == 40000.0).item<bool>(),
                            "the mean");
            });
        }
    }

    void aUnitWithoutGradientIsLeftAlone_data()
    {
        QTest::addColumn<int>("ranks");
        QTest::addColumn<bool>("idle");
        QTest::addColumn<bool>("frozen");
        for (const int ranks : {1, 2}) {
            QTest::addRow("idle, %d ranks", ranks) << ranks << true << false;
            QTest::addRow("frozen, %d ranks", ranks) << ranks << false << true;
            QTest::addRow("both, %d ranks", ranks) << ranks << true << true;
        }
    }
    void aUnitWithoutGradientIsLeftAlone()
    {
        QFETCH(const int, ranks);
        QFETCH(const bool, idle);
        QFETCH(const bool, frozen);
        SmallTraining training;
        training.kind = Kind::Fsdp;
        training.ranks = ranks;
        training.model = [=] {
            return std::make_unique<LayersModel>(std::vector<std::int64_t>{33, 20, 20, 5}, idle, frozen);
        };

        const auto result = train(training);

        const auto model = training.model();
        const auto before = drawnWeights(*model, 7);
        for (std::size_t i = 0; i < before.size(); ++i) {
            const auto& name = model->parameters()[i].name;
            const bool untouched = at::equal(result.parameters.at(name), before[i]);
            QCOMPARE(untouched, name == "idle.weight" || (frozen && name.starts_with("fc1.")));
        }
    }
};

QTEST_APPLESS_MAIN(TestStrategyEquality)
#include "tst_strategy_equality.moc"
