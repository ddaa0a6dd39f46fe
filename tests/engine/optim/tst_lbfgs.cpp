#include "engine/optim/optimizer.h"

#include <QTest>

#include <cmath>

using namespace mantissa;

namespace {

OptimizerPlan planOf(bool strongWolfe)
{
    OptimizerPlan plan;
    plan.kind = OptimizerKind::Lbfgs;
    plan.impl = OptimizerImpl::ForLoop;
    plan.learningRate = 1.0;
    plan.lbfgs.strongWolfe = strongWolfe;
    return plan;
}

at::Tensor rosenbrock(const at::Tensor& x)
{
    return (1.0 - x[0]).square() + 100.0 * (x[1] - x[0].square()).square();
}

/// Evaluates a function of one tensor, and counts.
struct Problem {
    at::Tensor x;
    std::function<at::Tensor(const at::Tensor&)> function;
    int evaluations = 0;

    Evaluation evaluation()
    {
        return {[this] {
                    const at::AutoGradMode grad(true);
                    ++evaluations;
                    x.mutable_grad().reset();
                    const at::Tensor loss = function(x);
                    loss.backward();
                    return loss.item<double>();
                },
                [](double part) { return part; }, [](double part) { return part; }};
    }
};

Problem hill()
{
    return {at::tensor({-1.2, 1.0}, at::kDouble).set_requires_grad(true), rosenbrock};
}

} // namespace

class TestLbfgs : public QObject {
    Q_OBJECT

private slots:
    void findsTheBottomOfACurvedValley()
    {
        Problem problem = hill();
        const auto optimizer = makeOptimizer(planOf(true), {problem.x});

        for (int step = 0; step < 5; ++step)
            optimizer->stepWith(problem.evaluation());

        const double away = (problem.x.detach() - 1.0).abs().max().item<double>();
        QVERIFY2(away < 1e-4,
                 (std::to_string(away) + " after " + std::to_string(problem.evaluations)).c_str());
        QCOMPARE(optimizer->stepCount(), 5.0);
    }

    /// Two variables of a quadratic: with exact lengths two iterations are enough for any method that is
    /// conjugate; with curvature pairs L-BFGS comes close in a few of length one.
    void aQuadraticNeedsFewEvaluations()
    {
        Problem problem{at::tensor({3.0, -2.0}, at::kDouble).set_requires_grad(true),
                        [](const at::Tensor& x) { return 0.5 * (2.0 * x[0].square() + x[1].square()); }};
        const auto optimizer = makeOptimizer(planOf(false), {problem.x});

        optimizer->stepWith(problem.evaluation());

        QVERIFY(problem.x.detach().abs().max().item<double>() < 1e-5);
        QVERIFY2(problem.evaluations <= 25, std::to_string(problem.evaluations).c_str());
    }

    void theFirstMoveIsAsLongAsTheRateOverTheGradientAllows()
    {
        Problem problem{at::tensor({3.0, -4.0}, at::kDouble).set_requires_grad(true),
                        [](const at::Tensor& x) { return x.square().sum(); }};
        OptimizerPlan plan = planOf(false);
        plan.learningRate = 0.5;
        plan.lbfgs.maxIterations = 1;
        const auto optimizer = makeOptimizer(plan, {problem.x});

        optimizer->stepWith(problem.evaluation());

        // gradient (6, -8), its absolute sum 14: length 0.5 / 14
        QVERIFY(std::abs(problem.x[0].item<double>() - (3.0 - 6.0 * 0.5 / 14.0)) < 1e-12);
        QCOMPARE(problem.evaluations, 1);
    }

    void theLimitsHold()
    {
        Problem problem = hill();
        OptimizerPlan plan = planOf(false);
        plan.learningRate = 1e-3;
        plan.lbfgs.maxIterations = 7;
        const auto optimizer = makeOptimizer(plan, {problem.x});
        optimizer->stepWith(problem.evaluation());
        QCOMPARE(problem.evaluations, 7);

        plan.lbfgs.maxEvaluations = 4;
        problem = hill();
        makeOptimizer(plan, {problem.x})->stepWith(problem.evaluation());
        QCOMPARE(problem.evaluations, 4);
    }

    void goesOnWhereItStopped_data()
    {
        QTest::addColumn<bool>("strongWolfe");
        QTest::newRow("line search") << true;
        QTest::newRow("fixed length") << false;
    }
    void goesOnWhereItStopped()
    {
        QFETCH(bool, strongWolfe);
        OptimizerPlan plan = planOf(strongWolfe);
        plan.learningRate = strongWolfe ? 1.0 : 1e-2;
        plan.lbfgs.maxIterations = 3;
        plan.lbfgs.historySize = 4;
        Problem whole = hill();
        const auto optimizer = makeOptimizer(plan, {whole.x});
        for (int step = 0; step < 2; ++step)
            optimizer->stepWith(whole.evaluation());

        Problem other{whole.x.detach().clone().set_requires_grad(true), rosenbrock};
        const auto resumed = makeOptimizer(plan, {other.x});
        for (const auto& [name, tensors] : optimizer->state())
            resumed->restore(name, {tensors[0].clone()});
        resumed->loadStateDict(optimizer->stateDict());
        for (int step = 0; step < 2; ++step) {
            optimizer->stepWith(whole.evaluation());
            resumed->stepWith(other.evaluation());
        }

        QVERIFY(at::equal(whole.x, other.x));
    }

    void itTakesNoPlainStepAndOthersNoClosure()
    {
        Problem problem = hill();
        problem.x.mutable_grad() = at::ones({2}, at::kDouble);
        QVERIFY_EXCEPTION_THROWN(makeOptimizer(planOf(true), {problem.x})->step(), std::logic_error);
        OptimizerPlan adam;
        QVERIFY_EXCEPTION_THROWN(makeOptimizer(adam, {problem.x})->stepWith(problem.evaluation()),
                                 std::logic_error);
    }
};

QTEST_APPLESS_MAIN(TestLbfgs)
#include "tst_lbfgs.moc"
