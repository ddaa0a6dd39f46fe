#include "engine/model/layers.h"
#include "engine/optim/clip.h"
#include "tests/support/sharded_training.h"

#include <QtTest>

#include <limits>

using namespace mantissa;

namespace {

std::unique_ptr<Model> sandwich()
{
    return std::make_unique<SandwichModel>(40, 24, false, false);
}

/// The choices that may change memory and traffic, never a number.
struct Choice {
    const char* name;
    std::function<void(SmallTraining&)> apply;
};

const std::vector<Choice> kChoices = {
    {"whole model", [](SmallTraining& t) { t.shards.wrap = UnitWrap::Whole; }},
    {"by size",
     [](SmallTraining& t) {
         t.shards.wrap = UnitWrap::Size;
         t.shards.leastUnit = 2000;
     }},
    {"next unit before", [](SmallTraining& t) { t.shards.ahead = GatherAhead::Pre; }},
    {"next unit after", [](SmallTraining& t) { t.shards.ahead = GatherAhead::Post; }},
    {"forward ahead", [](SmallTraining& t) { t.shards.forwardAhead = true; }},
    {"all ahead",
     [](SmallTraining& t) {
         t.shards.ahead = GatherAhead::Pre;
         t.shards.forwardAhead = true;
         t.shards.limitAhead = false;
     }},
    {"small buckets", [](SmallTraining& t) { t.ddp.bucketMiB = 0.001; }},
    {"buckets by copy", [](SmallTraining& t) { t.ddp.gradientViews = false; }},
    {"unused ones sought", [](SmallTraining& t) { t.ddp.findUnused = true; }},
    {"static graph", [](SmallTraining& t) { t.ddp.staticGraph = true; }},
    {"recompute", [](SmallTraining& t) { t.recompute = true; }},
    {"recompute, all ahead",
     [](SmallTraining& t) {
         t.recompute = true;
         t.shards.ahead = GatherAhead::Pre;
         t.shards.forwardAhead = true;
         t.shards.limitAhead = false;
     }},
};

void addKinds()
{
    QTest::addColumn<int>("kind");
    for (const auto kind : kKinds)
        QTest::addRow("%s", nameOf(kind)) << static_cast<int>(kind);
}

std::string refusal(const SmallTraining& training)
{
    try {
        train(training);
    } catch (const std::exception& error) {
        return error.what();
    }
    return {};
}

/// The first layer is left out where the test wants it, on the rank that it wants.
class SkippingModel final : public Model {
public:
    explicit SkippingModel(std::function<bool()> skips) : m_skips(std::move(skips)) {}
    const std::vector<ParameterSpec>& parameters() const override { return m_specs; }
    int unitCount() const override { return 2; }
    std::string unitName(int unit) const override { return std::to_string(unit); }
    at::Tensor forward(const at::Tensor& input, WeightAccess& weights, bool) override
    {
        at::Tensor x = input;
        const bool skips = m_skips();
        x = weights.run(0, x, [skips](const at::Tensor& rows, const std::vector<at::Tensor>& w) {
            return skips ? rows * 1.0 : rows + at::linear(rows, w[0]);
        });
        const auto w = weights.enter(1);
        return weights.leave(1, at::linear(x, w[0]));
    }

private:
    std::function<bool()> m_skips;
    std::vector<ParameterSpec> m_specs = {{"maybe.weight", {12, 12}, 0}, {"last.weight", {5, 12}, 1}};
};

} // namespace

class TestStrategyOptions : public QObject {
    Q_OBJECT

private slots:
    void initTestCase() { at::set_num_threads(1); }

    void choicesOfMemoryAndTrafficChangeNoBit_data()
    {
        QTest::addColumn<int>("kind");
        QTest::addColumn<int>("choice");
        QTest::addColumn<bool>("around");
        for (const auto kind : kKinds) {
            for (std::size_t i = 0; i < kChoices.size(); ++i) {
                for (const bool around : {false, true})
                    QTest::addRow("%s, %s%s", nameOf(kind), kChoices[i].name, around ? ", root around" : "")
                        << static_cast<int>(kind) << static_cast<int>(i) << around;
            }
        }
    }
    void choicesOfMemoryAndTrafficChangeNoBit()
    {
        QFETCH(const int, kind);
        QFETCH(const int, choice);
        QFETCH(const bool, around);
        SmallTraining training;
        training.kind = static_cast<Kind>(kind);
        training.ranks = 4;
        training.steps = 4;
        training.microBatches = 2;
        training.tokens = around;
        if (around)
            training.model = sandwich;
        const auto plain = train(training);

        kChoices[static_cast<std::size_t>(choice)].apply(training);

        QVERIFY(sameBits(plain, train(training)));
    }

    void clippingIsThatOfOneRank_data()
    {
        QTest::addColumn<int>("kind");
        QTest::addColumn<double>("p");
        for (const auto kind : kKinds) {
            for (const double p : {1.0, 2.0, 3.0, std::numeric_limits<double>::infinity(), 0.0})
                QTest::addRow("%s, %s", nameOf(kind), p == 0.0 ? "by value" : std::to_string(p).c_str())
                    << static_cast<int>(kind) << p;
        }
    }
    void clippingIsThatOfOneRank()
    {
        QFETCH(const int, kind);
        QFETCH(const double, p);
        SmallTraining training;
        training.steps = 5;
        std::vector<double> norms(8, 0.0);
        training.afterReduce = [&](Strategy& strategy, int step) {
            std::vector<at::Tensor> gradients;
            for (const auto& parameter : strategy.parameters())
                gradients.push_back(parameter.grad());
            if (p == 0.0)
                return clipByValue(gradients, 0.01);
            const auto parts = strategy.holdsParts() ? GradientParts::Sharded : GradientParts::Whole;
            const double norm = clipByNorm(gradients, 0.1, p, parts, strategy);
            if (strategy.communicator().rank() == 0)
                norms[static_cast<std::size_t>(step)] = norm;
        };
        const auto one = train(training);
        const auto normsOfOne = norms;

        training.kind = static_cast<Kind>(kind);
        training.ranks = 4;
        const auto many = train(training);

        QVERIFY(largestRelativeDifference(many, one) <= 1e-5);
        for (std::size_t step = 0; step < 5 && p != 0.0; ++step)
            QVERIFY(std::abs(norms[step] - normsOfOne[step]) <= 1e-5 * normsOfOne[step]
                    && normsOfOne[step] > 0.1);
        training.afterReduce = [](Strategy&, int) {};
        QVERIFY(largestRelativeDifference(train(training), one) > 1e-4); // it was clipped
    }

    void frozenWeightsStayAndTheOthersTrainAsOnOneRank_data() { addKinds(); }
    void frozenWeightsStayAndTheOthersTrainAsOnOneRank()
    {
        QFETCH(const int, kind);
        for (const char* frozen : {"fc1.", "fc2.", "fc2.bias", "fc3."}) {
            SmallTraining training;
            training.frozen = {frozen};
            const auto one = train(training);

            training.kind = static_cast<Kind>(kind);
            training.ranks = 4;
            const auto many = train(training);

            QVERIFY2(largestRelativeDifference(many, one) <= 1e-5, frozen);
            const auto model = training.model();
            const auto before = drawnWeights(*model, 7);
            for (std::size_t i = 0; i < before.size(); ++i) {
                const auto& name = model->parameters()[i].name;
                QCOMPARE(at::equal(many.parameters.at(name), before[i]), name.starts_with(frozen));
            }
        }
    }

    void aRecomputedForwardDrawsTheSameRandomNumbers_data() { addKinds(); }
    void aRecomputedForwardDrawsTheSameRandomNumbers()
    {
        QFETCH(const int, kind);
        SmallTraining training;
        training.kind = static_cast<Kind>(kind);
        training.ranks = 2;
        training.steps = 3;
        int forwards = 0;
        std::mutex mutex;
        // Units that draw: each call of the body takes the next numbers of the model's generator.
        class Drawing final : public Model {
        public:
            Drawing(int& calls, std::mutex& mutex) : m_calls(calls), m_mutex(mutex) {}
            const std::vector<ParameterSpec>& parameters() const override { return m_inner.parameters(); }
            int unitCount() const override { return m_inner.unitCount(); }
            std::string unitName(int unit) const override { return m_inner.unitName(unit); }
            at::Tensor generatorState() const override { return m_dropout.state(); }
            void setGeneratorState(const at::Tensor& state) override { m_dropout.setState(state); }
            at::Tensor forward(const at::Tensor& input, WeightAccess& weights, bool training) override
            {
                at::Tensor x = input;
                for (int unit = 0; unit < 2; ++unit)
                    x = weights.run(unit, x,
                                    [this](const at::Tensor& rows, const std::vector<at::Tensor>& w) {
                                        const std::scoped_lock lock(m_mutex);
                                        ++m_calls;
                                        return m_dropout.apply(at::relu(at::linear(rows, w[0], w[1])), true);
                                    });
                const auto w = weights.enter(2);
                return weights.leave(2, m_dropout.apply(at::linear(x, w[0], w[1]), training));
            }

        private:
            LayersModel m_inner{{33, 50, 50, 5}};
            Dropout m_dropout{0.3, 5};
            int& m_calls;
            std::mutex& m_mutex;
        };
        training.model = [&] { return std::make_unique<Drawing>(forwards, mutex); };
        const auto kept = train(training);
        const int once = std::exchange(forwards, 0);

        training.recompute = true;
        const auto again = train(training);

        QVERIFY(sameBits(kept, again));
        QCOMPARE(forwards, 2 * once);
    }

    void aWeightThatGotNoGradientIsNamedUnlessItIsLookedFor()
    {
        SmallTraining training;
        training.ranks = 2;
        training.steps = 3;
        training.model = [] { return std::make_unique<SkippingModel>([] { return true; }); };
        QVERIFY(QString::fromStdString(refusal(training)).contains("'maybe.weight' got no gradient"));

        training.ddp.findUnused = true;
        const auto result = train(training);
        const auto before = drawnWeights(*training.model(), 7);
        QVERIFY(at::equal(result.parameters.at("maybe.weight"), before[0]));
        QVERIFY(!at::equal(result.parameters.at("last.weight"), before[1]));
    }

    void aWeightThatOneRankUsedCountsForAll()
    {
        SmallTraining training;
        training.steps = 2;
        training.ranks = 2;
        training.ddp.findUnused = true;
        std::atomic<int> made{0};
        training.model = [&] {
            const bool skips = made++ == 1;
            return std::make_unique<SkippingModel>([skips] { return skips; });
        };

        const auto result = train(training);

        made = 5;
        QVERIFY(!at::equal(result.parameters.at("maybe.weight"), drawnWeights(*training.model(), 7)[0]));
    }

    void aBrokenPromiseOfAStaticGraphIsNamed()
    {
        SmallTraining training;
        training.ranks = 2;
        training.steps = 3;
        training.ddp.staticGraph = true;
        training.model = [] {
            const auto calls = std::make_shared<int>(0);
            return std::make_unique<SkippingModel>([calls] { return (*calls)++ == 0; });
        };
        QVERIFY(QString::fromStdString(refusal(training)).contains("static_graph was promised"));
    }
};

QTEST_APPLESS_MAIN(TestStrategyOptions)
#include "tst_strategy_options.moc"
