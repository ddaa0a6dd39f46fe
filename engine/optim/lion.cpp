#include "engine/optim/arithmetic.h"

namespace mantissa {
namespace {

/// Steps of one size, in the direction of a mean that weighs the newest gradient more than its memory does
/// (arXiv 2302.06675).
class Lion final : public Optimizer {
public:
    using Optimizer::Optimizer;
    std::vector<std::string> stateNames() const override { return {"exp_avg"}; }

private:
    void update(Active& active, const StepScaling&, bool) override
    {
        const auto& plan = active.plan;
        for (std::size_t i = 0; i < active.parameters.size(); ++i) {
            const at::Tensor& gradient = active.gradients[i];
            at::Tensor mean = active.state[0][i];
            if (plan.weightDecay != 0.0)
                active.parameters[i].mul_(exactFactor(1.0 - active.rate * plan.weightDecay));
            const at::Tensor direction =
                mean.mul(exactFactor(plan.beta1)).add_(gradient, 1.0 - plan.beta1).sign_();
            active.parameters[i].add_(direction, -active.rate);
            mean.mul_(exactFactor(plan.beta2)).add_(gradient, 1.0 - plan.beta2);
        }
    }
};

} // namespace

std::unique_ptr<Optimizer> makeLion(const OptimizerPlan& plan, std::vector<at::Tensor> parameters,
                                    std::vector<ParameterGroup> groups)
{
    return std::make_unique<Lion>(plan, std::move(parameters), std::move(groups));
}

} // namespace mantissa
