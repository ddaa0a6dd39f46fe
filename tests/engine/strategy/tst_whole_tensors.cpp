#include "tests/support/sharded_training.h"

#include <QtTest>

using namespace mantissa;

namespace {

SmallTraining trainingOf(Kind kind)
{
    SmallTraining training;
    training.kind = kind;
    return training;
}

void addKindsAndRanks()
{
    QTest::addColumn<int>("kind");
    QTest::addColumn<int>("ranks");
    for (const auto kind : kKinds) {
        for (const int ranks : {1, 2, 3, 4})
            QTest::addRow("%s, %d ranks", nameOf(kind), ranks) << static_cast<int>(kind) << ranks;
    }
}

NamedTensors otherWeights(const Model& model)
{
    NamedTensors whole;
    const auto weights = drawnWeights(model, 99);
    for (std::size_t i = 0; i < weights.size(); ++i)
        whole.emplace_back(model.parameters()[i].name, weights[i]);
    return whole;
}

/// Throws where the two are not the same names and bits in the same order.
void requireSame(const NamedTensors& got, const NamedTensors& wanted)
{
    require(got.size() == wanted.size(), "all of them");
    for (std::size_t i = 0; i < got.size(); ++i)
        require(got[i].first == wanted[i].first && at::equal(got[i].second, wanted[i].second),
                wanted[i].first);
}

} // namespace

class TestWholeTensors : public QObject {
    Q_OBJECT

private slots:
    void initTestCase() { at::set_num_threads(1); }

    void aStateGoesWholeAndBack_data() { addKindsAndRanks(); }
    void aStateGoesWholeAndBack()
    {
        QFETCH(const int, kind);
        QFETCH(const int, ranks);
        runRanks(ranks, [kind](Communicator& comm) {
            const auto training = trainingOf(static_cast<Kind>(kind));
            const auto model = training.model();
            const auto strategy = strategyFor(training, *model, comm);
            std::vector<at::Tensor> state;
            for (const auto& parameter : strategy->parameters())
                state.push_back(parameter.detach() * 3.0);
            auto whole = strategy->fullState(state, true);
            std::reverse(whole.begin(), whole.end()); // the names count, not the order

            const auto parts = strategy->partsOf(whole);

            require(parts.size() == state.size(), "one for each parameter");
            for (std::size_t i = 0; i < parts.size(); ++i)
                require(at::equal(parts[i], state[i]), strategy->parameterNames()[i]);
        });
    }

    void loadedWeightsAreThoseOfTheNextForward_data() { addKindsAndRanks(); }
    void loadedWeightsAreThoseOfTheNextForward()
    {
        QFETCH(const int, kind);
        QFETCH(const int, ranks);
        runRanks(ranks, [kind](Communicator& comm) {
            const auto training = trainingOf(static_cast<Kind>(kind));
            const auto model = training.model();
            const auto strategy = strategyFor(training, *model, comm);
            trainStep(training, *strategy, *model, 0);
            const auto wanted = otherWeights(*model);

            strategy->loadParameters(wanted);

            requireSame(strategy->fullParameters(true), wanted);
            const at::NoGradGuard noGrad;
            const auto used = strategy->enter(0);
            require(at::equal(used[0], wanted[0].second), "the first unit sees them");
        });
    }

    void whatIsMissingOrMisshapenIsNamed_data() { addKindsAndRanks(); }
    void whatIsMissingOrMisshapenIsNamed()
    {
        QFETCH(const int, kind);
        QFETCH(const int, ranks);
        runRanks(ranks, [kind](Communicator& comm) {
            const auto training = trainingOf(static_cast<Kind>(kind));
            const auto model = training.model();
            const auto strategy = strategyFor(training, *model, comm);
            auto whole = otherWeights(*model);
            whole[1].second = at::zeros({7});
            const auto refusal = [&](const NamedTensors& tensors) -> std::string {
                try {
                    strategy->loadParameters(tensors);
                } catch (const std::exception& error) {
                    return error.what();
                }
                return {};
            };
            require(refusal(whole).find("fc1.bias") != std::string::npos, "the shape");
            whole.erase(whole.begin() + 1);
            require(refusal(whole).find("fc1.bias") != std::string::npos, "the gap");
            require(!strategy->partsOf(whole)[1].defined(), "a state may be missing");
        });
    }
};

QTEST_APPLESS_MAIN(TestWholeTensors)
#include "tst_whole_tensors.moc"
