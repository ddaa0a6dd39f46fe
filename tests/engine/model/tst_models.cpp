#include "engine/model/layers.h"
#include "engine/model/rotary.h"
#include "tests/engine/model/whole_weights.h"

#include <QTest>

#include <cmath>
#include <numeric>
#include <set>

using namespace mantissa;

namespace {

std::int64_t countOf(const Model& model)
{
    std::int64_t count = 0;
    for (const auto& spec : model.parameters())
        count += std::accumulate(spec.shape.begin(), spec.shape.end(), std::int64_t{1}, std::multiplies<>());
    return count;
}

std::set<std::string> namesOf(const Model& model)
{
    std::set<std::string> names;
    for (const auto& spec : model.parameters())
        names.insert(spec.name);
    return names;
}

at::Tensor named(const ModelPlan& plan, const std::string& name, std::uint64_t seed = 1)
{
    const auto model = makeModel(plan, seed, 0);
    const auto weights = initialWeights(plan, seed);
    for (std::size_t i = 0; i < weights.size(); ++i) {
        if (model->parameters()[i].name == name)
            return weights[i];
    }
    throw std::logic_error("no weight " + name);
}

TransformerPlan small()
{
    TransformerPlan plan;
    plan.vocab = 20;
    plan.context = 12;
    plan.width = 16;
    plan.heads = 2;
    return plan;
}

at::Tensor tokens(std::int64_t rows = 2, std::int64_t length = 10)
{
    return at::arange(rows * length).remainder(17).view({rows, length});
}

} // namespace

class TestModels : public QObject {
    Q_OBJECT

private slots:
    void dropoutKeepsTheMeanAndDrawsFromItsOwnGenerator()
    {
        Dropout first(0.25, 5);
        Dropout same(0.25, 5);
        Dropout other(0.25, 6);
        const at::Tensor x = at::ones({100, 1000});

        const at::Tensor dropped = first.apply(x, true);

        QVERIFY(std::abs(dropped.mean().item<double>() - 1.0) < 0.01);
        QVERIFY(std::abs(dropped.eq(0.0).to(at::kDouble).mean().item<double>() - 0.25) < 0.01);
        QVERIFY(at::equal(dropped, same.apply(x, true)));
        QVERIFY(!at::equal(dropped, other.apply(x, true)));
    }

    void dropoutDoesNothingInValidation()
    {
        Dropout dropout(0.5, 5);
        const at::Tensor before = dropout.state();
        const at::Tensor x = at::ones({10});

        QVERIFY(dropout.apply(x, false).is_same(x));
        QVERIFY(at::equal(dropout.state(), before));
        QVERIFY(!Dropout(0.0, 5).state().defined());
    }

    void dropoutGoesOnFromItsState()
    {
        Dropout dropout(0.5, 5);
        const at::Tensor x = at::ones({50});
        (void)dropout.apply(x, true);
        const at::Tensor state = dropout.state().clone();
        const at::Tensor next = dropout.apply(x, true);
        Dropout resumed(0.5, 99);

        resumed.setState(state);

        QVERIFY(at::equal(resumed.apply(x, true), next));
    }

    void firstWeightsAreDrawnAsPyTorchDrawsThem()
    {
        const MlpPlan plan{400, 300, 10, 2};
        const at::Tensor weight = named(plan, "fc1.weight");
        const at::Tensor bias = named(plan, "fc1.bias");
        const double bound = 1.0 / std::sqrt(400.0);

        QVERIFY(weight.abs().max().item<double>() <= bound);
        QVERIFY(std::abs(weight.std().item<double>() - bound / std::sqrt(3.0)) < 0.001);
        QVERIFY(bias.abs().max().item<double>() <= bound);
        QVERIFY(bias.abs().max().item<double>() > 0.8 * bound); // the fan-in is that of the weight
        QVERIFY(at::equal(weight, named(plan, "fc1.weight")));
        QVERIFY(!at::equal(weight, named(plan, "fc1.weight", 2)));
    }

    void firstWeightsOfATransformerFollowTheirKind()
    {
        TransformerPlan plan = small();
        plan.vocab = 500;
        plan.width = 64;
        plan.layers = 8;
        QVERIFY(std::abs(named(plan, "tok.weight").std().item<double>() - 1.0) < 0.02);
        QVERIFY(at::equal(named(plan, "ln_f.weight"), at::ones({64})));
        QVERIFY(at::equal(named(plan, "blocks.0.ln1.bias"), at::zeros({64})));
        plan.init = InitKind::Gpt2;
        QVERIFY(std::abs(named(plan, "tok.weight").std().item<double>() - 0.02) < 0.0005);
        QVERIFY(std::abs(named(plan, "blocks.3.up.weight").std().item<double>() - 0.02) < 0.0005);
        QVERIFY(std::abs(named(plan, "blocks.3.down.weight").std().item<double>() - 0.005) < 0.0003);
        QVERIFY(at::equal(named(plan, "blocks.3.up.bias"), at::zeros({256})));
    }

    void aResNetHasTheWeightsOfResNet18()
    {
        const auto model = makeModel(ResNetPlan{}, 1, 0);

        QCOMPARE(countOf(*model), std::int64_t{11173962});
        QCOMPARE(model->unitCount(), 10);
        const auto names = namesOf(*model);
        for (const auto* name : {"conv1.weight", "layer1.0.bn2.bias", "layer2.0.downsample.1.weight",
                                 "layer4.1.conv2.weight", "fc.bias"})
            QVERIFY2(names.contains(name), name);
        QVERIFY(!names.contains("layer1.0.downsample.0.weight"));
        QCOMPARE(model->buffers().size(), std::size_t{3 * 20});
        QCOMPARE(model->unitName(3), std::string("layer2.0"));
    }

    void aResNetLearnsStatisticsInTrainingAlone()
    {
        const at::NoGradGuard noGrad;
        const ResNetPlan plan{4, 1, 8, 3, 2};
        const auto model = makeModel(plan, 1, 0);
        WholeWeights weights(*model, initialWeights(plan, 1));
        const at::Tensor images = at::randn({6, 2, 8, 8}, seeded());
        const at::Tensor fresh = model->buffers().front().second.clone();

        const at::Tensor first = model->forward(images, weights, false);
        QVERIFY(at::equal(model->buffers().front().second, fresh));
        QCOMPARE(first.sizes(), at::IntArrayRef({6, 3}));
        QVERIFY(at::equal(first.narrow(0, 0, 1), model->forward(images.narrow(0, 0, 1), weights, false)));
        (void)model->forward(images, weights, true);
        QVERIFY(!at::equal(model->buffers().front().second, fresh));
        QCOMPARE(model->buffers()[2].second.item<std::int64_t>(), std::int64_t{1});
    }

    void runningStatisticsCanBeTakenAnew()
    {
        BatchNorm norm("bn", 2);
        const at::Tensor x = at::randn({8, 2, 3, 3}, seeded());
        const at::Tensor y = at::randn({8, 2, 3, 3}, seeded());
        norm.setMomentum(1.0);
        (void)norm.apply(x, at::ones({2}), at::zeros({2}), true);
        norm.setMomentum(0.5);
        (void)norm.apply(y, at::ones({2}), at::zeros({2}), true);

        std::vector<std::pair<std::string, at::Tensor>> buffers;
        norm.addBuffers(buffers);

        const at::Tensor mean = (x.mean({0, 2, 3}) + y.mean({0, 2, 3})) / 2.0;
        QVERIFY(at::allclose(buffers[0].second, mean, 1e-5, 1e-6));
    }

    void everyOptionOfATransformerKeepsTheFutureOut_data()
    {
        QTest::addColumn<int>("positions");
        QTest::addColumn<int>("activation");
        QTest::addColumn<int>("norm");
        QTest::addColumn<bool>("tied");
        for (int option = 0; option < 24; ++option)
            QTest::addRow("%d", option)
                << option % 2 << option / 2 % 3 << option / 6 % 2 << (option / 12 == 1);
    }
    void everyOptionOfATransformerKeepsTheFutureOut()
    {
        QFETCH(int, positions);
        QFETCH(int, activation);
        QFETCH(int, norm);
        QFETCH(bool, tied);
        TransformerPlan plan = small();
        plan.positions = static_cast<PositionKind>(positions);
        plan.activation = static_cast<ActivationKind>(activation);
        plan.norm = static_cast<NormKind>(norm);
        plan.tiedHead = tied;
        const at::Tensor row = tokens(1);
        at::Tensor changed = row.clone();
        changed[0][7] = 19;

        const at::Tensor before = logitsOf(plan, row);
        const at::Tensor after = logitsOf(plan, changed);
        plan.explicitAttention = true;
        const at::Tensor byHand = logitsOf(plan, row);

        QCOMPARE(before.sizes(), at::IntArrayRef({10, 20}));
        QVERIFY(at::allclose(before.narrow(0, 0, 7), after.narrow(0, 0, 7), 1e-5, 1e-6));
        QVERIFY(!at::allclose(before.narrow(0, 7, 1), after.narrow(0, 7, 1)));
        QVERIFY(at::allclose(before, byHand, 1e-4, 1e-5));
    }

    void optionsOfATransformerShowInItsWeights()
    {
        TransformerPlan plan = small();
        const auto usual = countOf(*makeModel(plan, 1, 0));
        plan.positions = PositionKind::Rotary;
        QCOMPARE(countOf(*makeModel(plan, 1, 0)), usual - 12 * 16);
        plan.norm = NormKind::Rms;
        QVERIFY(!namesOf(*makeModel(plan, 1, 0)).contains("ln_f.bias"));
        plan.activation = ActivationKind::SwiGlu;
        QVERIFY(namesOf(*makeModel(plan, 1, 0)).contains("blocks.1.gate.weight"));
        QCOMPARE(named(plan, "blocks.0.up.weight").size(0), std::int64_t{48}); // 16 × 8/3 in whole eights
    }

    void gpt2SmallHasAsManyWeightsAsThePublicOne()
    {
        TransformerPlan plan;
        plan.vocab = 50257;
        plan.context = 1024;
        plan.width = 768;
        plan.heads = 12;
        plan.layers = 12;
        plan.tiedHead = true;

        QCOMPARE(countOf(*makeModel(plan, 1, 0)), std::int64_t{124439808});
    }

    void rotaryPositionsDependOnDistanceAlone()
    {
        const Rotary rotary(32, 8);
        const at::Tensor q = at::randn({1, 1, 1, 8}, seeded()).expand({1, 1, 32, 8});
        const at::Tensor k = at::randn({1, 1, 1, 8}, seeded()).expand({1, 1, 32, 8});

        const at::Tensor scores = at::matmul(rotary.turn(q), rotary.turn(k).transpose(-2, -1))[0][0];

        QVERIFY(at::allclose(scores[3][1], scores[20][18], 1e-4, 1e-5));
        QVERIFY(at::allclose(scores[9][9], scores[0][0], 1e-4, 1e-5));
        QVERIFY(!at::allclose(scores[3][1], scores[3][2], 1e-4, 1e-5));
    }

private:
    at::Generator seeded() { return at::make_generator<at::CPUGeneratorImpl>(m_seed++); }
    std::uint64_t m_seed = 40;
};

QTEST_APPLESS_MAIN(TestModels)
#include "tst_models.moc"
