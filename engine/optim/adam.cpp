#include "engine/optim/arithmetic.h"

#include <cmath>

namespace mantissa {
namespace {

/// Where the state tensors stand in Active::state.
enum AdamTensor : std::size_t { Mean, Square, LargestSquare };

double biasCorrection(double beta, const at::Tensor& step)
{
    return 1.0 - std::pow(beta, static_cast<double>(step.item<float>()));
}

/// What all three keep.
class Adam : public Optimizer {
public:
    using Optimizer::Optimizer;
    std::vector<std::string> stateNames() const override
    {
        std::vector<std::string> names = {"exp_avg", "exp_avg_sq"};
        if (plan().amsgrad)
            names.emplace_back("max_exp_avg_sq");
        return names;
    }
};

class AdamForLoop final : public Adam {
public:
    using Adam::Adam;

private:
    void update(Active& active, const StepScaling&, bool) override
    {
        for (std::size_t i = 0; i < active.parameters.size(); ++i)
            updateOne(active, i);
    }

    static void updateOne(Active& active, std::size_t i)
    {
        const auto& plan = active.plan;
        at::Tensor parameter = active.parameters[i];
        at::Tensor gradient = plan.maximize ? -active.gradients[i] : active.gradients[i];
        if (plan.weightDecay != 0.0) {
            if (plan.kind == OptimizerKind::AdamW)
                parameter.mul_(exactFactor(1.0 - active.rate * plan.weightDecay));
            else
                gradient = gradient.add(parameter, plan.weightDecay);
        }
        at::Tensor mean = active.state[Mean][i];
        at::Tensor square = active.state[Square][i];
        mean.lerp_(gradient, 1.0 - plan.beta1);
        square.mul_(exactFactor(plan.beta2)).addcmul_(gradient, gradient, 1.0 - plan.beta2);
        const double meanCorrection = biasCorrection(plan.beta1, active.steps[i]);
        const double squareCorrection = std::sqrt(biasCorrection(plan.beta2, active.steps[i]));
        if (plan.amsgrad) {
            at::Tensor largest = active.state[LargestSquare][i];
            square = largest.copy_(at::maximum(largest, square));
        }
        const at::Tensor denominator = (square.sqrt() / squareCorrection).add_(plan.eps);
        parameter.addcdiv_(mean, denominator, -(active.rate / meanCorrection));
    }
};

class AdamForeach final : public Adam {
public:
    using Adam::Adam;

private:
    void update(Active& active, const StepScaling&, bool) override
    {
        const auto& plan = active.plan;
        std::vector<at::Tensor> gradients =
            plan.maximize ? at::_foreach_neg(active.gradients) : active.gradients;
        if (plan.weightDecay != 0.0) {
            if (plan.kind == OptimizerKind::AdamW)
                at::_foreach_mul_(active.parameters, 1.0 - active.rate * plan.weightDecay);
            else
                gradients = at::_foreach_add(gradients, active.parameters, plan.weightDecay);
        }
        at::_foreach_lerp_(active.state[Mean], gradients, 1.0 - plan.beta1);
        at::_foreach_mul_(active.state[Square], plan.beta2);
        at::_foreach_addcmul_(active.state[Square], gradients, gradients, 1.0 - plan.beta2);
        if (plan.amsgrad)
            at::_foreach_maximum_(active.state[LargestSquare], active.state[Square]);
        auto denominators =
            at::_foreach_sqrt(plan.amsgrad ? active.state[LargestSquare] : active.state[Square]);
        std::vector<at::Scalar> squareCorrections;
        std::vector<at::Scalar> stepSizes;
        for (const auto& step : active.steps) {
            squareCorrections.emplace_back(std::sqrt(biasCorrection(plan.beta2, step)));
            stepSizes.emplace_back((active.rate / biasCorrection(plan.beta1, step)) * -1.0);
        }
        at::_foreach_div_(denominators, squareCorrections);
        at::_foreach_add_(denominators, plan.eps);
        at::_foreach_addcdiv_(active.parameters, active.state[Mean], denominators, stepSizes);
    }
};

class AdamFused final : public Adam {
public:
    using Adam::Adam;

private:
    void update(Active& active, const StepScaling& scaling, bool) override
    {
        const auto& plan = active.plan;
        std::vector<at::Tensor> none;
        auto& largest = plan.amsgrad ? active.state[LargestSquare] : none;
        if (plan.kind == OptimizerKind::AdamW)
            at::_fused_adamw_(active.parameters, active.gradients, active.state[Mean], active.state[Square],
                              largest, active.steps, active.rate, plan.beta1, plan.beta2, plan.weightDecay,
                              plan.eps, plan.amsgrad, plan.maximize, scaling.gradScale, scaling.foundInf);
        else
            at::_fused_adam_(active.parameters, active.gradients, active.state[Mean], active.state[Square],
                             largest, active.steps, active.rate, plan.beta1, plan.beta2, plan.weightDecay,
                             plan.eps, plan.amsgrad, plan.maximize, scaling.gradScale, scaling.foundInf);
    }
};

} // namespace

std::unique_ptr<Optimizer> makeAdam(const OptimizerPlan& plan, std::vector<at::Tensor> parameters,
                                    std::vector<ParameterGroup> groups)
{
    return makeByImplementation<AdamForLoop, AdamForeach, AdamFused>(plan, std::move(parameters),
                                                                     std::move(groups));
}

} // namespace mantissa
