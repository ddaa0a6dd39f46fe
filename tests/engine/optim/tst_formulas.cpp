#include "engine/optim/optimizer.h"

#include <QTest>

#include <cmath>

using namespace mantissa;

namespace {

/// One weight in doubles, moved as the papers have it, in no tensor's words.
struct Reference {
    OptimizerPlan plan;
    double weight = 1.0;
    double first = 0.0; ///< Momentum, or mean.
    double second = 0.0; ///< Squares.
    double largest = 0.0;
    double mean = 0.0; ///< RMSprop's.
    int steps = 0;

    void step(double gradient)
    {
        ++steps;
        const bool decoupled = plan.kind == OptimizerKind::AdamW || plan.kind == OptimizerKind::Lion
            || (plan.hasEightBitState() && plan.kind != OptimizerKind::Sgd8bit);
        if (plan.maximize)
            gradient = -gradient;
        if (decoupled)
            weight -= plan.learningRate * plan.weightDecay * weight;
        else
            gradient += plan.weightDecay * weight;
        move(gradient);
    }

private:
    void move(double g)
    {
        const double rate = plan.learningRate;
        switch (plan.kind) {
        case OptimizerKind::Sgd:
        case OptimizerKind::Sgd8bit:
            first = steps == 1 ? g : plan.momentum * first + (1.0 - plan.dampening) * g;
            weight -= rate * (plan.nesterov ? g + plan.momentum * first : first);
            break;
        case OptimizerKind::Adagrad:
            second = (steps == 1 ? plan.initialAccumulator : second) + g * g;
            weight -= rate / (1.0 + (steps - 1) * plan.lrDecay) * g / (std::sqrt(second) + plan.eps);
            break;
        case OptimizerKind::RmsProp: {
            second = plan.alpha * second + (1.0 - plan.alpha) * g * g;
            mean = plan.centered ? plan.alpha * mean + (1.0 - plan.alpha) * g : 0.0;
            const double update = g / (std::sqrt(second - mean * mean) + plan.eps);
            first = plan.momentum * first + update;
            weight -= rate * first;
            break;
        }
        case OptimizerKind::Lion:
        case OptimizerKind::Lion8bit: {
            const double direction = plan.beta1 * first + (1.0 - plan.beta1) * g;
            weight -= direction > 0.0 ? rate : direction < 0.0 ? -rate : 0.0;
            first = plan.beta2 * first + (1.0 - plan.beta2) * g;
            break;
        }
        default: {
            first = plan.beta1 * first + (1.0 - plan.beta1) * g;
            second = plan.beta2 * second + (1.0 - plan.beta2) * g * g;
            largest = std::max(largest, second);
            const double square = (plan.amsgrad ? largest : second) / (1.0 - std::pow(plan.beta2, steps));
            weight -= rate * (first / (1.0 - std::pow(plan.beta1, steps))) / (std::sqrt(square) + plan.eps);
        }
        }
    }
};

double gradientAt(int step)
{
    return std::sin(1.3 * step) + 0.2;
}

struct Case {
    const char* name;
    OptimizerKind kind;
    void (*vary)(OptimizerPlan&);
};

const std::vector<Case>& cases()
{
    static const std::vector<Case> all = {
        {"SGD", OptimizerKind::Sgd, [](OptimizerPlan&) {}},
        {"SGD nesterov", OptimizerKind::Sgd, [](OptimizerPlan& p) { p.nesterov = true; }},
        {"SGD dampened", OptimizerKind::Sgd, [](OptimizerPlan& p) { p.dampening = 0.3; }},
        {"Adam", OptimizerKind::Adam, [](OptimizerPlan&) {}},
        {"Adam amsgrad", OptimizerKind::Adam, [](OptimizerPlan& p) { p.amsgrad = true; }},
        {"AdamW", OptimizerKind::AdamW, [](OptimizerPlan&) {}},
        {"AdamW up", OptimizerKind::AdamW, [](OptimizerPlan& p) { p.maximize = true; }},
        {"Adagrad", OptimizerKind::Adagrad, [](OptimizerPlan& p) { p.lrDecay = 0.1; }},
        {"Adagrad begun", OptimizerKind::Adagrad, [](OptimizerPlan& p) { p.initialAccumulator = 0.5; }},
        {"RMSprop", OptimizerKind::RmsProp, [](OptimizerPlan& p) { p.momentum = 0.0; }},
        {"RMSprop momentum", OptimizerKind::RmsProp, [](OptimizerPlan&) {}},
        {"RMSprop centered", OptimizerKind::RmsProp, [](OptimizerPlan& p) { p.centered = true; }},
        {"Lion", OptimizerKind::Lion, [](OptimizerPlan& p) { p.beta2 = 0.99; }},
        {"Adam8bit", OptimizerKind::Adam8bit, [](OptimizerPlan&) {}},
        {"AdamW8bit", OptimizerKind::AdamW8bit, [](OptimizerPlan&) {}},
        {"Lion8bit", OptimizerKind::Lion8bit, [](OptimizerPlan& p) { p.beta2 = 0.99; }},
        {"SGD8bit", OptimizerKind::Sgd8bit, [](OptimizerPlan&) {}},
    };
    return all;
}

OptimizerPlan planOf(const Case& entry)
{
    OptimizerPlan plan;
    plan.kind = entry.kind;
    plan.impl = OptimizerImpl::ForLoop;
    plan.learningRate = 0.05;
    plan.weightDecay = 0.1;
    plan.momentum = 0.9;
    entry.vary(plan);
    return plan;
}

at::Tensor weights(std::int64_t count)
{
    return at::linspace(-1.0, 1.0, count, at::kFloat).set_requires_grad(true);
}

void stepOn(Optimizer& optimizer, at::Tensor& parameter, int step)
{
    parameter.mutable_grad() = (parameter.detach() * (0.3 * step)).sin() + 0.01;
    optimizer.step();
}

} // namespace

class TestFormulas : public QObject {
    Q_OBJECT

private slots:
    void everyOptimizerFollowsItsFormula_data()
    {
        QTest::addColumn<int>("index");
        for (int i = 0; i < static_cast<int>(cases().size()); ++i)
            QTest::newRow(cases()[static_cast<std::size_t>(i)].name) << i;
    }
    void everyOptimizerFollowsItsFormula()
    {
        QFETCH(int, index);
        const auto plan = planOf(cases()[static_cast<std::size_t>(index)]);
        Reference reference{plan};
        at::Tensor weight = at::ones({1}, at::kDouble).set_requires_grad(true);
        if (plan.hasEightBitState())
            weight = at::ones({1}).set_requires_grad(true);
        const auto optimizer = makeOptimizer(plan, {weight});

        for (int step = 1; step <= 8; ++step) {
            weight.mutable_grad() = at::full_like(weight.detach(), gradientAt(step));
            optimizer->step();
            reference.step(gradientAt(step));

            const double apart = std::abs(weight.item<double>() - reference.weight);
            QVERIFY2(apart < (plan.hasEightBitState() ? 1e-5 : 1e-12),
                     (std::to_string(step) + ": " + std::to_string(apart)).c_str());
        }
        QCOMPARE(optimizer->stepCount(), 8.0);
    }

    void goesOnWhereItStopped_data()
    {
        QTest::addColumn<int>("index");
        QTest::addColumn<int>("count");
        for (int i = 0; i < static_cast<int>(cases().size()); ++i) {
            for (const int count : {100, 5000}) // The second is packed in 8 bits where that is the way.
                QTest::addRow("%s %d", cases()[static_cast<std::size_t>(i)].name, count) << i << count;
        }
    }
    void goesOnWhereItStopped()
    {
        QFETCH(int, index);
        QFETCH(int, count);
        const auto plan = planOf(cases()[static_cast<std::size_t>(index)]);
        at::Tensor whole = weights(count);
        const auto optimizer = makeOptimizer(plan, {whole});
        for (int step = 1; step <= 4; ++step)
            stepOn(*optimizer, whole, step);

        at::Tensor other = whole.detach().clone().set_requires_grad(true);
        const auto resumed = makeOptimizer(plan, {other});
        for (const auto& [name, tensors] : optimizer->state())
            resumed->restore(name, tensors);
        resumed->loadStateDict(optimizer->stateDict());
        for (int step = 5; step <= 8; ++step) {
            stepOn(*optimizer, whole, step);
            stepOn(*resumed, other, step);
        }

        QVERIFY(at::equal(whole, other));
        QCOMPARE(resumed->stepCount(), 8.0);
    }

    void aCycledMomentumReachesTheStep()
    {
        for (const auto kind : {OptimizerKind::Sgd, OptimizerKind::AdamW, OptimizerKind::RmsProp}) {
            const auto moved = [&](double momentum) {
                at::Tensor weight = weights(10);
                OptimizerPlan plan = planOf({"", kind, [](OptimizerPlan&) {}});
                const auto optimizer = makeOptimizer(plan, {weight});
                optimizer->setMomentum(momentum);
                for (int step = 1; step <= 3; ++step)
                    stepOn(*optimizer, weight, step);
                return weight.detach().clone();
            };

            QVERIFY(!at::equal(moved(0.5), moved(0.9)));
        }
    }

    void groupsHaveTheirOwnRateAndDecay()
    {
        OptimizerPlan plan = planOf({"", OptimizerKind::AdamW, [](OptimizerPlan&) {}});
        plan.decayMatricesOnly = true;
        plan.groups = {{"head.*", 0.005, {}}, {"*.emb", {}, 0.0}};
        const std::vector<ParameterShape> shapes = {
            {"body.weight", 2}, {"body.bias", 1}, {"head.weight", 2}, {"head.bias", 1}, {"a.emb", 2}};
        std::vector<at::Tensor> parameters;
        for (std::size_t i = 0; i < shapes.size(); ++i)
            parameters.push_back(at::ones({4}).set_requires_grad(true));
        const auto optimizer = makeOptimizer(plan, parameters, shapes);
        for (auto& parameter : parameters)
            parameter.mutable_grad() = at::ones({4});

        optimizer->setLearningRate(0.1); // A schedule has doubled it.
        optimizer->step();

        // Adam's first step is as long as the rate; decay takes rate · 0.1 of the weight before it.
        const double wanted[] = {1.0 - 0.01 - 0.1, 1.0 - 0.1, 1.0 - 0.001 - 0.01, 1.0 - 0.01, 1.0 - 0.1};
        for (std::size_t i = 0; i < parameters.size(); ++i)
            QVERIFY2(std::abs(parameters[i][0].item<double>() - wanted[i]) < 1e-6,
                     (shapes[i].name + " " + std::to_string(parameters[i][0].item<double>())).c_str());
    }

    void patternsHaveStars()
    {
        QVERIFY(fitsPattern("blocks.*.ln1.*", "blocks.12.ln1.weight"));
        QVERIFY(fitsPattern("*", "anything"));
        QVERIFY(fitsPattern("fc1.weight", "fc1.weight"));
        QVERIFY(!fitsPattern("fc1", "fc1.weight"));
        QVERIFY(!fitsPattern("*.bias", "fc1.weight"));
    }
};

QTEST_APPLESS_MAIN(TestFormulas)
#include "tst_formulas.moc"
