#include "engine/optim/arithmetic.h"

namespace mantissa {
namespace {

/// What all three keep.
class Adagrad : public Optimizer {
public:
    using Optimizer::Optimizer;
    std::vector<std::string> stateNames() const override { return {"sum"}; }

protected:
    at::Tensor initialState(std::size_t, const at::Tensor& parameter) const override
    {
        return at::full_like(parameter.detach(), plan().initialAccumulator);
    }

    static double decayedRate(const Active& active, const at::Tensor& step)
    {
        const auto before = static_cast<double>(step.item<float>()) - 1.0;
        return active.rate / (1.0 + before * active.plan.lrDecay);
    }
};

class AdagradForLoop final : public Adagrad {
public:
    using Adagrad::Adagrad;

private:
    void update(Active& active, const StepScaling&, bool) override
    {
        for (std::size_t i = 0; i < active.parameters.size(); ++i)
            updateOne(active, i);
    }

    static void updateOne(Active& active, std::size_t i)
    {
        const at::Tensor gradient = decayedGradient(active.plan, active.gradients[i], active.parameters[i]);
        at::Tensor sum = active.state[0][i];
        sum.addcmul_(gradient, gradient);
        const at::Tensor deviation = sum.sqrt().add_(active.plan.eps);
        active.parameters[i].addcdiv_(gradient, deviation, -decayedRate(active, active.steps[i]));
    }
};

class AdagradForeach final : public Adagrad {
public:
    using Adagrad::Adagrad;

private:
    void update(Active& active, const StepScaling&, bool) override
    {
        const auto& plan = active.plan;
        const auto gradients = decayedGradients(plan, active.gradients, active.parameters);
        std::vector<at::Scalar> rates;
        for (const auto& step : active.steps)
            rates.emplace_back(-decayedRate(active, step));
        at::_foreach_addcmul_(active.state[0], gradients, gradients);
        auto deviations = at::_foreach_sqrt(active.state[0]);
        at::_foreach_add_(deviations, plan.eps);
        at::_foreach_addcdiv_(active.parameters, at::_foreach_mul(gradients, rates), deviations);
    }
};

class AdagradFused final : public Adagrad {
public:
    using Adagrad::Adagrad;

private:
    void update(Active& active, const StepScaling& scaling, bool) override
    {
        const auto& plan = active.plan;
        at::_fused_adagrad_(active.parameters, active.gradients, active.state[0], active.steps, active.rate,
                            plan.lrDecay, plan.weightDecay, plan.eps, plan.maximize, scaling.gradScale,
                            scaling.foundInf);
    }
};

} // namespace

std::unique_ptr<Optimizer> makeAdagrad(const OptimizerPlan& plan, std::vector<at::Tensor> parameters,
                                       std::vector<ParameterGroup> groups)
{
    return makeByImplementation<AdagradForLoop, AdagradForeach, AdagradFused>(plan, std::move(parameters),
                                                                              std::move(groups));
}

} // namespace mantissa
