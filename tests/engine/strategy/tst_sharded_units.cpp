#include "engine/strategy/nonfinite.h"
#include "tests/support/sharded_training.h"

#include <QtTest>

#include <limits>

using namespace mantissa;

namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();

std::uint64_t bytesOf(const Model& model, int unit)
{
    std::uint64_t bytes = 0;
    for (const auto& spec : model.parameters()) {
        std::uint64_t elements = 1;
        for (const auto extent : spec.shape)
            elements *= static_cast<std::uint64_t>(extent);
        bytes += unit < 0 || spec.unit == unit ? 4 * elements : 0;
    }
    return bytes;
}

} // namespace

class TestShardedUnits : public QObject {
    Q_OBJECT

private slots:
    void initTestCase() { at::set_num_threads(1); }

    void countsEveryNonfiniteElement_data()
    {
        QTest::addColumn<int>("type");
        for (const auto type : {at::kFloat, at::kDouble, at::kBFloat16, at::kHalf})
            QTest::newRow(c10::toString(type)) << static_cast<int>(type);
    }
    void countsEveryNonfiniteElement()
    {
        QFETCH(const int, type);
        auto tensor = at::full({3, 5000}, 1000.0, static_cast<at::ScalarType>(type));
        QCOMPARE(countNonfinite(tensor), std::int64_t{0});

        tensor[0].fill_(kInf);
        tensor[2][4999].fill_(std::numeric_limits<float>::quiet_NaN());
        tensor[1][17].fill_(-kInf);

        QCOMPARE(countNonfinite(tensor), std::int64_t{5002});
        QCOMPARE(countNonfinite(tensor.t()), std::int64_t{5002});
        QCOMPARE(countNonfinite(tensor.narrow(1, 4990, 10)), std::int64_t{11});
        QCOMPARE(countNonfinite(at::Tensor()), std::int64_t{0});
    }

    void onlyTheRankThatOverflowedIsCounted_data()
    {
        QTest::addColumn<int>("kind");
        QTest::addColumn<bool>("syncEach");
        QTest::addRow("ddp") << 0 << false;
        QTest::addRow("ddp, each reduced") << 0 << true;
        QTest::addRow("fsdp") << 1 << false;
        QTest::addRow("fsdp, each reduced") << 1 << true;
    }
    void onlyTheRankThatOverflowedIsCounted()
    {
        QFETCH(const int, kind);
        QFETCH(const bool, syncEach);
        runRanks(2, [=](Communicator& comm) {
            SmallTraining training;
            training.kind = static_cast<Kind>(kind);
            LayersModel model({4, 4, 3});
            const auto strategy = strategyFor(training, model, comm);
            for (const bool last : {false, true}) {
                strategy->setSync(last || syncEach);
                auto input = at::ones({2, 4});
                if (!last && comm.rank() == 1)
                    input[0][2].fill_(kInf);
                torch::autograd::backward({model.forward(input, *strategy, true).sum()}, {});
                strategy->endOfBackward();
            }
            const auto count = strategy->takeNonfiniteBefore().count;
            require((count > 0) == (comm.rank() == 1),
                    "counted on rank " + std::to_string(comm.rank()) + ": " + std::to_string(count));
            strategy->reduceGradients();
            std::int64_t after = 0;
            for (const auto& parameter : strategy->parameters())
                after += countNonfinite(parameter.grad());
            require(strategy->maxOverShards(static_cast<double>(after)) > 0, "the mean has it");
            require(strategy->takeNonfiniteBefore().count == 0, "counted once");
        });
    }

    void parametersAreTheShardsPiecesInTheModelsOrder()
    {
        runRanks(4, [](Communicator& comm) {
            SmallTraining training;
            training.kind = Kind::Fsdp;
            const auto model = training.model();
            const auto strategy = strategyFor(training, *model, comm);
            const auto weights = drawnWeights(*model, 7);
            for (std::size_t i = 0; i < weights.size(); ++i) {
                const auto& piece = strategy->parameters()[i];
                require(strategy->parameterNames()[i] == model->parameters()[i].name, "the names");
                require(piece.dim() == 1, "one dimension");
                auto elements = static_cast<double>(piece.numel());
                comm.allReduce(&elements, 1, WireType::F64, ReduceOp::Sum);
                require(elements == static_cast<double>(weights[i].numel()),
                        "every element belongs to one rank");
                const double squares =
                    strategy->sumOverShards(piece.detach().to(at::kDouble).square().sum().item<double>());
                require(std::abs(squares - weights[i].to(at::kDouble).square().sum().item<double>()) < 1e-9,
                        "the values");
            }
        });
    }

    void anOptimizerStateComesBackWhole()
    {
        runRanks(3, [](Communicator& comm) {
            SmallTraining training;
            training.kind = Kind::Fsdp;
            const auto model = training.model();
            const auto strategy = strategyFor(training, *model, comm);
            std::vector<at::Tensor> state;
            for (const auto& parameter : strategy->parameters())
                state.push_back(parameter.detach() * 2.0);

            const auto whole = strategy->fullState(state, comm.rank() == 1);

            require(whole.size() == (comm.rank() == 1 ? state.size() : 0), "only where it was wanted");
            const auto weights = drawnWeights(*model, 7);
            for (std::size_t i = 0; i < whole.size(); ++i)
                require(at::equal(whole[i].second, weights[i] * 2.0), whole[i].first);
        });
    }

    void gathersAndReductionsAreThoseOfFullShard_data()
    {
        QTest::addColumn<int>("microBatches");
        QTest::addColumn<bool>("syncEach");
        QTest::addColumn<int>("gathers");
        QTest::addColumn<int>("reductions");
        // Three units: 3 gathers forward, 2 backward (the last is still there), a reduction for each unit
        // that syncs.
        QTest::addRow("each batch") << 1 << true << 5 << 3;
        QTest::addRow("window of 4") << 4 << false << 20 << 3;
        QTest::addRow("window of 4, each reduced") << 4 << true << 20 << 12;
    }
    void gathersAndReductionsAreThoseOfFullShard()
    {
        QFETCH(const int, microBatches);
        QFETCH(const bool, syncEach);
        QFETCH(const int, gathers);
        QFETCH(const int, reductions);
        runRanks(2, [=](Communicator& comm) {
            SmallTraining training;
            training.kind = Kind::Fsdp;
            training.microBatches = microBatches;
            training.syncEach = syncEach;
            const auto model = training.model();
            const auto strategy = strategyFor(training, *model, comm);
            trainStep(training, *strategy, *model, 0);
            const auto& fsdp = static_cast<ShardedStrategy&>(*strategy);
            require(fsdp.gathers() == gathers, "gathers: " + std::to_string(fsdp.gathers()));
            require(fsdp.reductions() == reductions, "reductions: " + std::to_string(fsdp.reductions()));
        });
    }

    void parametersStayWithinTheirShareAndOneUnit_data()
    {
        QTest::addColumn<int>("ranks");
        QTest::addColumn<int>("model");
        for (const int ranks : {2, 4}) {
            QTest::addRow("layers, %d ranks", ranks) << ranks << 0;
            QTest::addRow("great root, %d ranks", ranks) << ranks << 1;
            QTest::addRow("great root, entered twice, %d ranks", ranks) << ranks << 2;
        }
    }
    void parametersStayWithinTheirShareAndOneUnit()
    {
        QFETCH(const int, ranks);
        QFETCH(const int, model);
        SmallTraining training;
        training.kind = Kind::Fsdp;
        training.ranks = ranks;
        training.steps = 3;
        training.microBatches = 2;
        training.tokens = model != 0;
        if (model == 0)
            training.model = [] {
                return std::make_unique<LayersModel>(std::vector<std::int64_t>{200, 150, 160, 10});
            };
        else
            training.model = [model] { return std::make_unique<SandwichModel>(60, 128, false, model == 2); };
        const auto one = training.model();
        std::uint64_t largest = 0;
        for (int unit = 0; unit < one->unitCount(); ++unit)
            largest = std::max(largest, bytesOf(*one, unit));
        const double share = static_cast<double>(bytesOf(*one, -1)) / ranks;
        training.afterReduce = [=](Strategy& strategy, int) {
            const auto peak = static_cast<double>(strategy.peakParameterBytes());
            require(peak <= 1.15 * (share + static_cast<double>(largest)),
                    "the bound: " + std::to_string(peak));
            require(peak >= share + static_cast<double>(largest), "it was measured");
        };

        train(training);
    }

    void aSmallRootStaysGathered()
    {
        runRanks(2, [](Communicator& comm) {
            SmallTraining training;
            training.kind = Kind::Fsdp;
            const LayersModel smallRoot({200, 150, 160, 4});
            const SandwichModel greatRoot(60, 128, false, false);
            require(static_cast<ShardedStrategy&>(*strategyFor(training, smallRoot, comm)).keepsRoot(),
                    "kept");
            require(!static_cast<ShardedStrategy&>(*strategyFor(training, greatRoot, comm)).keepsRoot(),
                    "given back");
        });
    }

    void aForwardWithoutGradientsDisturbsNothing()
    {
        SmallTraining training;
        training.kind = Kind::Fsdp;
        training.ranks = 2;
        training.tokens = true;
        training.model = [] { return std::make_unique<SandwichModel>(20, 32, false, false); };
        const auto plain = train(training);

        training.afterReduce = [&training](Strategy& strategy, int step) {
            const at::NoGradGuard noGrad;
            const auto model = training.model();
            const auto batch = smallBatch(training, *model, step, strategy.communicator());
            model->forward(batch.input, strategy, false);
            model->forward(batch.input, strategy, false);
        };

        QVERIFY(sameBits(plain, train(training)));
    }

    void aRankThatThrowsInBackwardEndsTheOthers()
    {
        SmallTraining training;
        training.kind = Kind::Fsdp;
        training.ranks = 2;
        training.model = [] { return std::make_unique<LayersModel>(std::vector<std::int64_t>{8, 8, 5}); };
        training.afterBackward = [](Strategy& strategy, int step) {
            if (step == 2 && strategy.communicator().rank() == 1)
                throw std::runtime_error("enough");
        };

        QVERIFY_EXCEPTION_THROWN(train(training), std::exception);
    }
};

QTEST_APPLESS_MAIN(TestShardedUnits)
#include "tst_sharded_units.moc"
