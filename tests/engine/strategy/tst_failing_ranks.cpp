#include "tests/support/sharded_training.h"

#include <QElapsedTimer>
#include <QtTest>

#include <algorithm>
#include <thread>

using namespace mantissa;
using namespace std::chrono_literals;

namespace {

enum class Place { Forward, Backward, AfterBackward, AfterReduce };

constexpr std::array kPlaces = {Place::Forward, Place::Backward, Place::AfterBackward, Place::AfterReduce};

const char* nameOf(Place place)
{
    static constexpr std::array kNames = {"forward", "backward", "after backward", "after the reduction"};
    return kNames[static_cast<std::size_t>(place)];
}

constexpr int kStep = 2;

/// Does at one place of one step, on one rank, what a test wants.
struct Trouble {
    Place place = Place::Forward;
    int rank = 0;
    std::function<void()> happen;

    void at(Place here, int step, int onRank) const
    {
        if (here == place && step == kStep && onRank == rank)
            happen();
    }
};

/// LayersModel with trouble in the middle unit.
class TroubledModel final : public Model {
public:
    TroubledModel(const Trouble& trouble, int rank) : m_trouble(trouble), m_rank(rank) {}
    const std::vector<ParameterSpec>& parameters() const override { return m_inner.parameters(); }
    int unitCount() const override { return m_inner.unitCount(); }
    std::string unitName(int unit) const override { return m_inner.unitName(unit); }
    at::Tensor forward(const at::Tensor& input, WeightAccess& weights, bool) override
    {
        const int step = m_passes++;
        at::Tensor x = input;
        for (int unit = 0; unit < 3; ++unit) {
            const auto body = [this, unit, step](const at::Tensor& rows, const std::vector<at::Tensor>& w) {
                at::Tensor out = at::linear(rows, w[0], w[1]);
                if (unit != 1)
                    return out;
                m_trouble.at(Place::Forward, step, m_rank);
                out.register_hook([this, step](const at::Tensor& gradient) {
                    m_trouble.at(Place::Backward, step, m_rank);
                    return gradient;
                });
                return out;
            };
            x = weights.run(unit, x, body);
        }
        return x;
    }

private:
    const Trouble& m_trouble;
    int m_rank;
    int m_passes = 0;
    LayersModel m_inner{{33, 50, 50, 5}};
};

struct Ending {
    std::vector<std::string> words; ///< What each rank threw.
    std::vector<int> missing;
    std::string reason;
};

Ending trainWith(Kind kind, int ranks, const Trouble& trouble, std::chrono::milliseconds timeout)
{
    SmallTraining training;
    training.kind = kind;
    training.afterBackward = [&](Strategy& strategy, int step) {
        trouble.at(Place::AfterBackward, step, strategy.communicator().rank());
    };
    training.afterReduce = [&](Strategy& strategy, int step) {
        trouble.at(Place::AfterReduce, step, strategy.communicator().rank());
    };
    ThreadGroup group(ranks, timeout);
    Ending ending;
    ending.words.resize(static_cast<std::size_t>(ranks));
    const auto run = [&](int rank) {
        const auto comm = group.communicator(rank);
        try {
            TroubledModel model(trouble, rank);
            const auto strategy = strategyFor(training, model, *comm);
            for (int step = 0; step < 6; ++step)
                trainStep(training, *strategy, model, step);
        } catch (const std::exception& error) {
            ending.words[static_cast<std::size_t>(rank)] = error.what();
            group.abort(error.what());
        }
    };
    {
        std::vector<std::jthread> threads;
        for (int rank = 0; rank < ranks; ++rank)
            threads.emplace_back(run, rank);
    }
    ending.missing = group.missing();
    ending.reason = group.reason();
    return ending;
}

void addRows()
{
    QTest::addColumn<int>("kind");
    QTest::addColumn<int>("place");
    for (const auto kind : kKinds) {
        for (const auto place : kPlaces)
            QTest::addRow("%s, %s", mantissa::nameOf(kind), nameOf(place))
                << static_cast<int>(kind) << static_cast<int>(place);
    }
}

/// Gives every weight away as it is; the gradient that comes back to the output of one unit is Inf.
class InfBehind final : public WeightAccess {
public:
    InfBehind(WeightAccess& inner, int unit) : m_inner(inner), m_unit(unit) {}

    std::vector<at::Tensor> enter(int unit) override { return m_inner.enter(unit); }
    at::Tensor leave(int unit, const at::Tensor& output) override { return m_inner.leave(unit, output); }
    at::Tensor run(int unit, const at::Tensor& input, const UnitBody& body) override
    {
        if (unit != m_unit)
            return m_inner.run(unit, input, body);
        return m_inner.run(unit, input, [body](const at::Tensor& rows, const std::vector<at::Tensor>& w) {
            at::Tensor output = body(rows, w);
            output.register_hook([](const at::Tensor& gradient) {
                return at::full_like(gradient, std::numeric_limits<float>::infinity());
            });
            return output;
        });
    }

private:
    WeightAccess& m_inner;
    int m_unit;
};

} // namespace

class TestFailingRanks : public QObject {
    Q_OBJECT

private slots:
    void initTestCase() { at::set_num_threads(1); }

    void aRankThatThrowsEndsTheOthersWithItsWords_data() { addRows(); }
    void aRankThatThrowsEndsTheOthersWithItsWords()
    {
        QFETCH(const int, kind);
        QFETCH(const int, place);
        for (const int rank : {0, 3}) {
            QElapsedTimer timer;
            timer.start();
            const Trouble trouble{static_cast<Place>(place), rank,
                                  [] { throw std::runtime_error("enough"); }};

            const auto ending = trainWith(static_cast<Kind>(kind), 4, trouble, 30s);

            for (const auto& words : ending.words)
                QVERIFY2(words.find("enough") != std::string::npos, words.c_str());
            QVERIFY(timer.elapsed() < 10000);
        }
    }

    void aRankThatStallsIsNamed_data() { addRows(); }
    void aRankThatStallsIsNamed()
    {
        QFETCH(const int, kind);
        QFETCH(const int, place);
        for (const int rank : {1, 2}) {
            const Trouble trouble{static_cast<Place>(place), rank,
                                  [] { std::this_thread::sleep_for(500ms); }};

            const auto ending = trainWith(static_cast<Kind>(kind), 4, trouble, 120ms);

            QVERIFY2(ending.missing == std::vector<int>{rank}, ending.reason.c_str());
            for (const auto& words : ending.words)
                QVERIFY2(words.find("time-out") != std::string::npos, words.c_str());
        }
    }

    void anInfIsCountedOnItsRankAlone_data()
    {
        QTest::addColumn<int>("kind");
        QTest::addColumn<int>("ranks");
        for (const auto kind : kKinds) {
            for (const int ranks : {2, 4})
                QTest::addRow("%s, %d ranks", mantissa::nameOf(kind), ranks)
                    << static_cast<int>(kind) << ranks;
        }
    }
    void anInfIsCountedOnItsRankAlone()
    {
        QFETCH(const int, kind);
        QFETCH(const int, ranks);
        for (int bad = 0; bad < ranks; ++bad) {
            runRanks(ranks, [=](Communicator& comm) {
                SmallTraining training;
                training.kind = static_cast<Kind>(kind);
                training.ddp.bucketMiB = 0.002; // earlier buckets are averaged before the bad one
                const auto model = training.model();
                const auto strategy = strategyFor(training, *model, comm);
                for (const bool last : {false, true}) {
                    strategy->setSync(last);
                    auto input = at::ones({2, 33});
                    if (!last && comm.rank() == bad)
                        input[0][2].fill_(std::numeric_limits<float>::infinity());
                    torch::autograd::backward({model->forward(input, *strategy, true).sum()}, {});
                    strategy->endOfBackward();
                }
                const auto count = strategy->takeNonfiniteBefore().count;
                require((count > 0) == (comm.rank() == bad),
                        "rank " + std::to_string(comm.rank()) + " counted " + std::to_string(count));
                strategy->reduceGradients();
                require(strategy->takeNonfiniteBefore().count == 0, "counted once");
            });
        }
    }

    void anInfIsTracedToTheWeightWhereBackwardMetIt_data() { anInfIsCountedOnItsRankAlone_data(); }
    void anInfIsTracedToTheWeightWhereBackwardMetIt()
    {
        QFETCH(const int, kind);
        QFETCH(const int, ranks);
        runRanks(ranks, [=](Communicator& comm) {
            SmallTraining training;
            training.kind = static_cast<Kind>(kind);
            const auto model = training.model(); // fc1, fc2, fc3
            const auto strategy = strategyFor(training, *model, comm);
            InfBehind access(*strategy, 1);
            strategy->setSync(true);
            torch::autograd::backward({model->forward(at::ones({2, 33}), access, true).sum()}, {});
            strategy->endOfBackward();
            const auto deepest = strategy->takeNonfiniteBefore().deepest;
            require(deepest && strategy->parameterNames().at(*deepest) == "fc2.bias",
                    deepest ? strategy->parameterNames().at(*deepest) : "none");
            strategy->reduceGradients();
        });
    }
};

QTEST_APPLESS_MAIN(TestFailingRanks)
#include "tst_failing_ranks.moc"
