#include "engine/optim/arithmetic.h"

namespace mantissa {
namespace {

/// What both keep. The mean of the gradients and the momentum are there where they are used.
class RmsProp : public Optimizer {
public:
    using Optimizer::Optimizer;
    std::vector<std::string> stateNames() const override
    {
        std::vector<std::string> names = {"square_avg"};
        if (plan().momentum > 0.0)
            names.emplace_back("momentum_buffer");
        if (plan().centered)
            names.emplace_back("grad_avg");
        return names;
    }

protected:
    std::vector<at::Tensor>& squares(Active& active) const { return active.state[0]; }
    std::vector<at::Tensor>& buffers(Active& active) const { return active.state[1]; }
    std::vector<at::Tensor>& means(Active& active) const { return active.state.back(); }
    bool hasMomentum() const { return plan().momentum > 0.0; }
};

class RmsPropForLoop final : public RmsProp {
public:
    using RmsProp::RmsProp;

private:
    void update(Active& active, const StepScaling&, bool) override
    {
        for (std::size_t i = 0; i < active.parameters.size(); ++i)
            updateOne(active, i);
    }

    void updateOne(Active& active, std::size_t i) const
    {
        const auto& plan = active.plan;
        at::Tensor parameter = active.parameters[i];
        const at::Tensor gradient = decayedGradient(plan, active.gradients[i], parameter);
        at::Tensor square = squares(active)[i];
        square.mul_(exactFactor(plan.alpha)).addcmul_(gradient, gradient, 1.0 - plan.alpha);
        const at::Tensor size = deviation(active, i, gradient).add_(plan.eps);
        if (!hasMomentum()) {
            parameter.addcdiv_(gradient, size, -active.rate);
            return;
        }
        at::Tensor buffer = buffers(active)[i];
        buffer.mul_(exactFactor(plan.momentum)).addcdiv_(gradient, size);
        parameter.add_(buffer, -active.rate);
    }

    at::Tensor deviation(Active& active, std::size_t i, const at::Tensor& gradient) const
    {
        const at::Tensor& square = squares(active)[i];
        if (!active.plan.centered)
            return square.sqrt();
        at::Tensor mean = means(active)[i];
        mean.lerp_(gradient, 1.0 - active.plan.alpha);
        return square.addcmul(mean, mean, -1.0).sqrt_();
    }
};

class RmsPropForeach final : public RmsProp {
public:
    using RmsProp::RmsProp;

private:
    void update(Active& active, const StepScaling&, bool) override
    {
        const auto& plan = active.plan;
        const auto gradients = decayedGradients(plan, active.gradients, active.parameters);
        at::_foreach_mul_(squares(active), plan.alpha);
        at::_foreach_addcmul_(squares(active), gradients, gradients, 1.0 - plan.alpha);
        auto sizes = deviations(active, gradients);
        at::_foreach_add_(sizes, plan.eps);
        if (!hasMomentum()) {
            at::_foreach_addcdiv_(active.parameters, gradients, sizes, -active.rate);
            return;
        }
        at::_foreach_mul_(buffers(active), plan.momentum);
        at::_foreach_addcdiv_(buffers(active), gradients, sizes);
        at::_foreach_add_(active.parameters, buffers(active), -active.rate);
    }

    std::vector<at::Tensor> deviations(Active& active, const std::vector<at::Tensor>& gradients) const
    {
        if (!active.plan.centered)
            return at::_foreach_sqrt(squares(active));
        at::_foreach_lerp_(means(active), gradients, 1.0 - active.plan.alpha);
        auto sizes = at::_foreach_addcmul(squares(active), means(active), means(active), -1.0);
        at::_foreach_sqrt_(sizes);
        return sizes;
    }
};

} // namespace

std::unique_ptr<Optimizer> makeRmsProp(const OptimizerPlan& plan, std::vector<at::Tensor> parameters,
                                       std::vector<ParameterGroup> groups)
{
    return makeByImplementation<RmsPropForLoop, RmsPropForeach, void>(plan, std::move(parameters),
                                                                      std::move(groups));
}

} // namespace mantissa
