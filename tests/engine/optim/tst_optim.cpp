#include "engine/comm/thread_group.h"
#include "engine/optim/clip.h"
#include "engine/optim/optimizer.h"

#include <QTest>

#include <cmath>
#include <limits>

using namespace mantissa;

namespace {

OptimizerPlan planOf(OptimizerKind kind, OptimizerImpl impl)
{
    OptimizerPlan plan;
    plan.kind = kind;
    plan.impl = impl;
    plan.learningRate = 0.05;
    plan.weightDecay = 0.1;
    plan.momentum = kind == OptimizerKind::Sgd ? 0.9 : 0.0;
    return plan;
}

/// Five steps on gradients made to order; what the parameters are then.
std::vector<at::Tensor> trained(const OptimizerPlan& plan, at::ScalarType type)
{
    std::vector<at::Tensor> parameters;
    for (const std::int64_t size : {std::int64_t{70}, std::int64_t{0}, std::int64_t{5}})
        parameters.push_back(at::linspace(-1.0, 1.0, size, at::kFloat).to(type).set_requires_grad(true));
    const auto optimizer = makeOptimizer(plan, parameters);
    for (int step = 1; step <= 5; ++step) {
        for (auto& parameter : parameters)
            parameter.mutable_grad() = (parameter.detach() * (0.3 * step)).sin() + 0.01;
        optimizer->step();
    }
    return parameters;
}

double apart(const std::vector<at::Tensor>& a, const std::vector<at::Tensor>& b)
{
    double worst = 0.0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        if (a[i].numel() > 0)
            worst = std::max(
                worst,
                (a[i].detach().to(at::kDouble) - b[i].detach().to(at::kDouble)).abs().max().item<double>());
    }
    return worst;
}

/// A strategy of which only the sums over shards are used: one rank alone.
class Alone final : public Strategy {
public:
    Alone() : Strategy({}) {}

    const std::vector<at::Tensor>& parameters() const override { return m_none; }
    void setSync(bool) override {}
    void endOfBackward() override {}
    NonfiniteTally takeNonfiniteBefore() override { return {}; }
    void reduceGradients() override {}
    void zeroGradients() override {}
    void endOfStep() override {}
    bool holdsParts() const override { return false; }
    int holders() const override { return 1; }
    MemoryTerms memory() const override { return {}; }
    double sumOverShards(double part) override { return part; }
    double maxOverShards(double part) override { return part; }
    NamedTensors fullParameters(bool) override { return {}; }
    NamedTensors fullState(const std::vector<at::Tensor>&, bool) override { return {}; }
    std::uint64_t peakParameterBytes() const override { return 0; }
    Communicator& communicator() override { return *m_communicator; }
    std::vector<at::Tensor> enter(int) override { return {}; }
    at::Tensor leave(int, const at::Tensor& output) override { return output; }

protected:
    at::Tensor partOf(const at::Tensor& whole, std::size_t) const override { return whole; }

private:
    std::vector<at::Tensor> m_none;
    ThreadGroup m_group{1, std::chrono::seconds(5)};
    std::unique_ptr<Communicator> m_communicator = m_group.communicator(0);
};

} // namespace

class TestOptim : public QObject {
    Q_OBJECT

private slots:
    void theThreeArithmeticsAreOneAlgorithm_data()
    {
        QTest::addColumn<int>("kind");
        QTest::addColumn<int>("impl");
        QTest::addColumn<int>("variant");
        for (int kind = 0; kind <= static_cast<int>(OptimizerKind::RmsProp); ++kind) {
            for (int impl = 1; impl < 3; ++impl) {
                if (kind == static_cast<int>(OptimizerKind::RmsProp) && impl == 2)
                    continue; // torch has no such kernel.
                for (int variant = 0; variant < 3; ++variant)
                    QTest::addRow("%d %d %d", kind, impl, variant) << kind << impl << variant;
            }
        }
    }
    void theThreeArithmeticsAreOneAlgorithm()
    {
        QFETCH(int, kind);
        QFETCH(int, impl);
        QFETCH(int, variant);
        const auto varied = [&](OptimizerImpl arithmetic) {
            OptimizerPlan plan = planOf(static_cast<OptimizerKind>(kind), arithmetic);
            plan.nesterov = variant == 1 && plan.kind == OptimizerKind::Sgd;
            plan.amsgrad =
                variant == 1 && (plan.kind == OptimizerKind::Adam || plan.kind == OptimizerKind::AdamW);
            plan.centered = variant == 1 && plan.kind == OptimizerKind::RmsProp;
            plan.momentum = variant == 1 && plan.kind == OptimizerKind::RmsProp ? 0.9 : plan.momentum;
            plan.lrDecay = variant == 1 && plan.kind == OptimizerKind::Adagrad ? 0.1 : 0.0;
            plan.maximize = variant == 2;
            return plan;
        };

        const auto loop = trained(varied(OptimizerImpl::ForLoop), at::kFloat);
        const auto other = trained(varied(static_cast<OptimizerImpl>(impl)), at::kFloat);

        QVERIFY(apart(loop, other) < 1e-5);
    }

    void fusedSgdMovesEveryElementOf16BitParameters()
    {
        OptimizerPlan plan = planOf(OptimizerKind::Sgd, OptimizerImpl::Fused);
        at::Tensor parameter = at::ones({100}, at::kBFloat16).set_requires_grad(true);
        const auto optimizer = makeOptimizer(plan, {parameter});
        parameter.mutable_grad() = at::ones({100}, at::kBFloat16);

        optimizer->step();

        QCOMPARE(parameter.ne(1.0).sum().item<std::int64_t>(), std::int64_t{100});
    }

    void aFusedStepThatFoundInfChangesNothing()
    {
        for (const auto kind :
             {OptimizerKind::Sgd, OptimizerKind::Adam, OptimizerKind::AdamW, OptimizerKind::Adagrad}) {
            at::Tensor parameter = at::ones({50}).set_requires_grad(true);
            const auto optimizer = makeOptimizer(planOf(kind, OptimizerImpl::Fused), {parameter});
            parameter.mutable_grad() = at::ones({50});

            optimizer->step({std::nullopt, at::ones({})});

            QVERIFY(parameter.eq(1.0).all().item<bool>());
            QCOMPARE(optimizer->stepCount(), 0.0);
            QVERIFY(!optimizer->hasState());
        }
    }

    void aFusedStepDividesByTheScaleItself()
    {
        const auto stepped = [](double gradient, std::optional<at::Tensor> scale) {
            at::Tensor parameter = at::ones({50}).set_requires_grad(true);
            const auto optimizer =
                makeOptimizer(planOf(OptimizerKind::Sgd, OptimizerImpl::Fused), {parameter});
            parameter.mutable_grad() = at::full({50}, gradient);
            optimizer->step({scale, at::zeros({})});
            return parameter.detach().clone();
        };

        QVERIFY(at::equal(stepped(0.5, std::nullopt), stepped(512.0, at::full({}, 1024.0))));
    }

    void normsAndCoefficientsAreThoseOfTorch_data()
    {
        QTest::addColumn<double>("p");
        QTest::addColumn<double>("norm");
        QTest::newRow("1") << 1.0 << 15.0;
        QTest::newRow("2") << 2.0 << std::sqrt(55.0);
        QTest::newRow("inf") << std::numeric_limits<double>::infinity() << 5.0;
    }
    void normsAndCoefficientsAreThoseOfTorch()
    {
        QFETCH(double, p);
        QFETCH(double, norm);
        Alone alone;
        for (const auto parts : {GradientParts::Whole, GradientParts::Sharded}) {
            const std::vector<at::Tensor> gradients = {at::tensor({-1.0F, 2.0F, -3.0F}),
                                                       at::tensor({-4.0F, 5.0F})};

            const double before = clipByNorm(gradients, 2.0, p, parts, alone);
            const double after = totalNorm(gradients, p, parts, alone);

            QVERIFY(std::abs(before - norm) < 1e-5);
            QVERIFY(std::abs(after - 2.0) < 1e-5);
        }
    }

    void aNormBelowTheLimitIsLeftAlone()
    {
        Alone alone;
        const std::vector<at::Tensor> gradients = {at::tensor({0.3F, 0.4F})};

        clipByNorm(gradients, 1.0, 2.0, GradientParts::Whole, alone);

        QVERIFY(at::equal(gradients[0], at::tensor({0.3F, 0.4F})));
    }

    void aNormOfNonsenseIsRefused()
    {
        Alone alone;
        QVERIFY_EXCEPTION_THROWN(totalNorm({at::ones({2})}, 0.0, GradientParts::Whole, alone),
                                 std::invalid_argument);
    }
};

QTEST_APPLESS_MAIN(TestOptim)
#include "tst_optim.moc"
