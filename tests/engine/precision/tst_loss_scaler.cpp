#include "engine/comm/thread_group.h"
#include "engine/precision/loss_scaler.h"
#include "engine/precision/precision.h"

#include <nlohmann/json.hpp>

#include <QFile>
#include <QTest>

#include <fstream>
#include <limits>
#include <thread>

using namespace mantissa;
using Json = nlohmann::json;

namespace {

/// What is recorded of the peer and deliberately not done here, with the reason.
const std::map<std::string, std::string> kNotImitated = {
    {"sharded-w1-no-finite-guard", "the peer's sharded scaler lets the scale grow to infinity"},
    {"interval-lowered-below-tracker",
     "the peer never grows again when the interval falls below the tracker"},
    {"decay-to-zero", "with a scale of 0 the peer writes NaN into the parameters"},
    {"backoff-zero", "with a scale of 0 the peer writes NaN into the parameters"},
};

Json cases()
{
    std::ifstream in(TEST_DATA "/golden/scaler.json");
    return Json::parse(in).at("cases");
}

ScalerPlan planOf(const Json& ctor)
{
    ScalerPlan plan;
    plan.enabled = ctor.value("enabled", true);
    plan.initScale = ctor.at("init_scale");
    plan.growthFactor = ctor.at("growth_factor");
    plan.backoffFactor = ctor.at("backoff_factor");
    plan.growthInterval = ctor.at("growth_interval");
    return plan;
}

/// The harness of the recording: for each optimizer four ones that never move, with gradients made to order.
class Harness {
public:
    explicit Harness(const Json& recorded) : m_scaler(planOf(recorded.at("ctor")))
    {
        OptimizerPlan plan;
        plan.kind = OptimizerKind::Sgd;
        plan.impl = recorded.at("impl") == "fused" ? OptimizerImpl::Fused : OptimizerImpl::ForLoop;
        plan.learningRate = 0.0;
        for (int i = 0; i < recorded.at("optimizers").get<int>(); ++i) {
            m_parameters.push_back(at::ones({4}).set_requires_grad(true));
            m_optimizers.push_back(makeOptimizer(plan, {m_parameters.back()}));
        }
    }

    std::pair<LossScale, LossScaleRule> saved;

    LossScaler& scaler() { return m_scaler; }
    const at::Tensor& parameter(std::size_t i) const { return m_parameters[i]; }

    void backward(const Json& bad)
    {
        for (std::size_t i = 0; i < m_parameters.size(); ++i) {
            m_parameters[i].mutable_grad().reset();
            m_scaler.scale(m_parameters[i].sum()).backward();
            const int kind = bad.at(i).get<int>();
            const double value = kind == 1 ? std::numeric_limits<double>::infinity()
                                           : std::numeric_limits<double>::quiet_NaN();
            if (kind != 0)
                m_parameters[i].grad().narrow(0, 1, 1).fill_(value);
        }
    }
    void unscale()
    {
        for (std::size_t i = 0; i < m_optimizers.size(); ++i)
            m_scaler.unscale(i, m_optimizers[i]->gradients(), false);
    }
    void stepAll()
    {
        for (std::size_t i = 0; i < m_optimizers.size(); ++i)
            m_scaler.step(i, *m_optimizers[i]);
    }

private:
    LossScaler m_scaler;
    std::vector<at::Tensor> m_parameters;
    std::vector<std::unique_ptr<Optimizer>> m_optimizers;
};

void set(ScalerState& state, const Json& action)
{
    const auto what = action.at("what").get<std::string>();
    if (what == "growth_interval")
        state.setGrowthInterval(action.at("value"));
    else if (what == "growth_factor")
        state.setGrowthFactor(action.at("value"));
    else
        state.setBackoffFactor(action.at("value"));
}

void load(ScalerState& state, const Json& stored)
{
    if (stored.empty())
        throw ScalerError(ScalerMistake::EmptyState, "empty");
    state.restore({stored.at("scale").get<float>(), stored.at("_growth_tracker").get<std::int64_t>()},
                  {stored.at("growth_factor"), stored.at("backoff_factor"), stored.at("growth_interval")});
}

std::vector<float> newScale(const Json& value)
{
    return value.is_array() ? value.get<std::vector<float>>() : std::vector<float>{value.get<float>()};
}

/// False: an action that has no counterpart here.
bool perform(Harness& harness, const Json& action)
{
    const auto what = action.at("do").get<std::string>();
    auto& state = harness.scaler().state();
    if (what == "step" || what == "steps") {
        for (int i = 0; i < action.value("count", 1); ++i) {
            harness.backward(action.at("bad"));
            harness.stepAll();
            state.update();
        }
    } else if (what == "backward") {
        harness.backward(action.at("bad"));
    } else if (what == "unscale") {
        harness.unscale();
    } else if (what == "opt_step") {
        harness.stepAll();
    } else if (what == "update") {
        action.contains("new_scale") ? state.update(newScale(action["new_scale"])) : state.update();
    } else if (what == "set") {
        set(state, action);
    } else if (what == "load") {
        load(state, action.at("state"));
    } else if (what == "save") {
        harness.saved = {state.now(), state.rule()};
    } else if (what == "load_own") {
        state.restore(harness.saved.first, harness.saved.second);
    } else {
        return what == "scale_value";
    }
    return true;
}

/// A loss in 16 bit must not overflow when it is scaled.
double scaledValue(Harness& harness, const Json& action)
{
    const auto name = action.value("dtype", "float32");
    const at::ScalarType type = name == "float16" ? at::kHalf
        : name == "bfloat16"                      ? at::kBFloat16
                                                  : at::kFloat;
    return harness.scaler().scale(at::full({}, action.at("value").get<double>(), type)).item<double>();
}

} // namespace

class TestLossScaler : public QObject {
    Q_OBJECT

private slots:
    void followsTheRecordedScaler_data()
    {
        QTest::addColumn<int>("index");
        const Json all = cases();
        for (int i = 0; i < int(all.size()); ++i)
            QTest::newRow(all[std::size_t(i)].at("id").get<std::string>().c_str()) << i;
    }
    void followsTheRecordedScaler()
    {
        QFETCH(int, index);
        const auto skip = kNotImitated.find(QTest::currentDataTag());
        if (skip != kNotImitated.end())
            QSKIP(skip->second.c_str());
        const Json recorded = cases()[std::size_t(index)];
        if (recorded.contains("ctor_error")) {
            QVERIFY_EXCEPTION_THROWN(LossScaler(planOf(recorded.at("ctor"))), ScalerError);
            return;
        }

        Harness harness(recorded);
        for (const auto& entry : recorded.at("trace")) {
            const Json& action = entry.at("action");
            const Json& after = entry.at("after");
            const bool fails = after.contains("error") && !action.contains("new_scale");
            if (after.contains("error") && !fails)
                break; // The peer refuses a new scale of shape [1]; here one element is one number.
            bool failed = false;
            try {
                QVERIFY2(perform(harness, action), action.dump().c_str());
            } catch (const ScalerError&) {
                failed = true;
            }
            const auto context = action.dump() + " → " + after.dump();
            QVERIFY2(failed == fails, context.c_str());
            const LossScale now = harness.scaler().state().now();
            QVERIFY2(double(now.scale) == after.at("scale").get<double>(),
                     (context + " got " + std::to_string(now.scale)).c_str());
            QVERIFY2(now.growthTracker == after.at("tracker").get<std::int64_t>(), context.c_str());
            if (action.at("do") == "scale_value")
                QCOMPARE(scaledValue(harness, action), after.at("value").get<double>());
            if (after.contains("params_finite"))
                QVERIFY2(harness.parameter(0).isfinite().all().item<bool>()
                             == after["params_finite"].get<bool>(),
                         context.c_str());
        }
    }

    void aScaleThatDecayedToZeroSkipsInsteadOfWritingNaN()
    {
        const ScalerPlan plan{true, 0.0, 2.0, 0.5, 5, 1.0, {}};
        LossScaler scaler(plan);
        OptimizerPlan sgd;
        sgd.kind = OptimizerKind::Sgd;
        sgd.impl = OptimizerImpl::ForLoop;
        at::Tensor parameter = at::ones({4}).set_requires_grad(true);
        const auto optimizer = makeOptimizer(sgd, {parameter});

        scaler.scale(parameter.sum()).backward();
        const bool skipped = scaler.step(0, *optimizer);

        QVERIFY(skipped);
        QVERIFY(parameter.eq(1.0).all().item<bool>());
    }

    void everyMistakeHasItsOwnName_data()
    {
        QTest::addColumn<int>("mistake");
        for (int i = 0; i <= static_cast<int>(ScalerMistake::ClosureGiven); ++i) // The rest: see aStateIs….
            QTest::addRow("%d", i) << i;
    }
    void everyMistakeHasItsOwnName()
    {
        QFETCH(int, mistake);
        const auto wanted = static_cast<ScalerMistake>(mistake);
        ScalerPlan plan;
        plan.enabled = true;
        const auto make = [](OptimizerKind kind, at::ScalarType type) {
            OptimizerPlan sgd;
            sgd.kind = kind;
            sgd.impl = OptimizerImpl::ForLoop;
            at::Tensor weight = at::ones({4}, type).set_requires_grad(true);
            weight.mutable_grad() = at::ones({4}, type);
            return makeOptimizer(sgd, {weight});
        };
        const auto plain = make(OptimizerKind::Sgd, at::kFloat);
        const auto half = make(OptimizerKind::Sgd, at::kHalf);
        const auto lbfgs = make(OptimizerKind::Lbfgs, at::kFloat);
        const auto err = [&] {
            LossScaler scaler(plan);
            if (wanted == ScalerMistake::NotScaledYet)
                scaler.unscale(0, plain->gradients(), false);
            (void)scaler.scale(at::ones({}));
            switch (wanted) {
            case ScalerMistake::FactorOutOfRange: {
                ScalerPlan odd = plan;
                odd.growthFactor = 1.0;
                LossScaler other(odd);
                break;
            }
            case ScalerMistake::UnscaledTwice:
                scaler.unscale(0, plain->gradients(), false);
                scaler.unscale(0, plain->gradients(), false);
                break;
            case ScalerMistake::UnscaledAfterStep:
                scaler.step(0, *plain);
                scaler.unscale(0, plain->gradients(), false);
                break;
            case ScalerMistake::SteppedTwice:
                scaler.step(0, *plain);
                scaler.step(0, *plain);
                break;
            case ScalerMistake::NothingChecked:
                scaler.update();
                break;
            case ScalerMistake::HalfGradient:
                scaler.unscale(0, half->gradients(), false);
                break;
            case ScalerMistake::BadNewScale:
                scaler.update(at::ones({1}).set_requires_grad(true));
                break;
            case ScalerMistake::NothingToScale:
                (void)scaler.scale(at::ones({2}, at::kLong));
                break;
            case ScalerMistake::ClosureGiven:
                scaler.step(0, *lbfgs);
                break;
            default:
                break;
            }
        };

        try {
            err();
            QFAIL("nothing was thrown");
        } catch (const ScalerError& error) {
            QCOMPARE(static_cast<int>(error.mistake), mistake);
            QVERIFY(std::string(error.what()).size() > 20);
        }
    }

    void aSwitchedOffScalerLetsEverythingPass()
    {
        LossScaler scaler({false, 1024.0, 2.0, 0.5, 5, 1.0, {}});
        const at::Tensor loss = at::ones({});

        QVERIFY(scaler.scale(loss).is_same(loss));
        scaler.update(at::ones({3}).narrow(0, 0, 1));
        QCOMPARE(scaler.state().now().scale, 1.0F);
    }

    void aScaleGivenByHandIsTaken()
    {
        LossScaler scaler({true, 1024.0, 2.0, 0.5, 5, 1.0, {}});
        (void)scaler.scale(at::ones({}));

        scaler.update(at::full({1}, 64.0));
        QCOMPARE(scaler.state().now().scale, 64.0F);
        scaler.state().setScale(32.0F);
        QCOMPARE(scaler.scale(at::ones({})).item<float>(), 32.0F);
        QVERIFY_EXCEPTION_THROWN(scaler.state().setScale(0.0F), ScalerError);
    }

    void growthGoesOnWhenTheIntervalFallsBelowTheTracker()
    {
        LossScale now{8.0F, 5};

        now = nextLossScale(now, {2.0, 0.5, 3}, false);

        QCOMPARE(now, (LossScale{16.0F, 0}));
    }

    /// Two overflowing ranks: a sum would be 2, and the fused kernels skip on exactly 1.
    void ranksAgreeWhoeverOverflowed_data()
    {
        QTest::addColumn<int>("badRanks");
        QTest::addColumn<bool>("explicitly");
        for (const bool explicitly : {false, true}) {
            for (int bad : {0, 1, 2, 3})
                QTest::addRow("%d %s", bad, explicitly ? "unscaled" : "fused") << bad << explicitly;
        }
    }
    void ranksAgreeWhoeverOverflowed()
    {
        QFETCH(int, badRanks);
        QFETCH(bool, explicitly);
        ThreadGroup group(2, std::chrono::seconds(20));
        std::array<double, 2> weight{};
        std::array<float, 2> scale{};
        const auto rank = [&](int number) {
            const auto communicator = group.communicator(number);
            ShardedLossScaler scaler({true, 1024.0, 2.0, 0.5, 2, 1.0, {}}, *communicator);
            OptimizerPlan plan;
            plan.kind = OptimizerKind::AdamW;
            plan.impl = OptimizerImpl::Fused;
            at::Tensor parameter = at::ones({40}).set_requires_grad(true);
            const auto optimizer = makeOptimizer(plan, {parameter});
            scaler.scale(parameter.sum()).backward();
            if ((badRanks & (1 << number)) != 0)
                parameter.grad().narrow(0, 3, 1).fill_(std::numeric_limits<double>::infinity());
            if (explicitly)
                scaler.unscale(0, optimizer->gradients(), true);
            scaler.step(0, *optimizer);
            scaler.update();
            weight[std::size_t(number)] = parameter.sum().item<double>();
            scale[std::size_t(number)] = scaler.state().now().scale;
        };
        {
            const std::jthread other(rank, 1);
            rank(0);
        }

        QCOMPARE(weight[0], weight[1]);
        QCOMPARE(scale[0], scale[1]);
        QCOMPARE(weight[0] == 40.0, badRanks != 0);
        QCOMPARE(scale[0], badRanks != 0 ? 512.0F : 1024.0F);
    }

    void aStateIsSavedWholeAndLoadedWhole()
    {
        RunPlan plan;
        plan.precision = PrecisionMode::Fp16Mixed;
        plan.scaler = {true, 1024.0, 3.0, 0.25, 2, 1.0, {}};
        ThreadGroup group(1, std::chrono::seconds(5));
        const auto communicator = group.communicator(0);
        OptimizerPlan sgd;
        sgd.kind = OptimizerKind::Sgd;
        sgd.impl = OptimizerImpl::ForLoop;
        at::Tensor weight = at::ones({4}).set_requires_grad(true);
        const auto optimizer = makeOptimizer(sgd, {weight});
        const auto step = [&](Precision& precision) {
            precision.preBackward(weight.sum()).backward();
            precision.unscaleGradients(*optimizer);
            precision.optimizerStep(*optimizer);
        };
        Precision first(plan, *communicator);
        step(first);
        const auto mistakeOf = [](const auto& call) {
            try {
                call();
            } catch (const ScalerError& error) {
                return static_cast<int>(error.mistake);
            }
            return -1;
        };
        // Between the step and the update it is not whole.
        QCOMPARE(mistakeOf([&] { (void)first.stateDict(); }), static_cast<int>(ScalerMistake::LiveState));
        first.updateScale();

        RunPlan others = plan;
        others.scaler = {true, 8.0, 2.0, 0.5, 2000, 1.0, {}};
        Precision second(others, *communicator);
        second.loadStateDict(first.stateDict());

        QCOMPARE(second.stateDict(), first.stateDict());
        step(second);
        second.updateScale();
        QCOMPARE(second.scaler()->state().now(), (LossScale{3072.0F, 0})); // The second clean step in a row.
        QCOMPARE(mistakeOf([&] { second.loadStateDict("{}"); }), static_cast<int>(ScalerMistake::EmptyState));
        RunPlan off = plan;
        off.scaler.enabled = false;
        Precision none(off, *communicator);
        QCOMPARE(none.stateDict(), std::string("{}"));
        none.loadStateDict(first.stateDict()); // Nothing to do, and no error.
    }

    /// A rank whose shard is empty, or frozen, still hears of the others.
    void aRankWithoutGradientsTakesPart()
    {
        ThreadGroup group(2, std::chrono::seconds(20));
        std::array<bool, 2> skipped{};
        const auto rank = [&](int number) {
            const auto communicator = group.communicator(number);
            ShardedLossScaler scaler({true, 1024.0, 2.0, 0.5, 2, 1.0, {}}, *communicator);
            OptimizerPlan plan;
            plan.kind = OptimizerKind::Sgd;
            plan.impl = OptimizerImpl::ForLoop;
            at::Tensor parameter = at::ones({4}).set_requires_grad(true);
            const auto optimizer = makeOptimizer(plan, {parameter});
            const at::Tensor loss = scaler.scale(parameter.sum());
            if (number == 1) {
                loss.backward();
                parameter.grad().fill_(std::numeric_limits<double>::infinity());
            }
            skipped[std::size_t(number)] = scaler.step(0, *optimizer);
            scaler.update();
        };
        {
            const std::jthread other(rank, 1);
            rank(0);
        }
        QVERIFY(skipped[0]);
        QVERIFY(skipped[1]);
    }
};

QTEST_APPLESS_MAIN(TestLossScaler)
#include "tst_loss_scaler.moc"
