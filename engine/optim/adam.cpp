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

class AdamForLoop final : public Optimizer {
public:
    using Optimizer::Optimizer;

private:
    void update(Active& active, const StepScaling&, bool) override
    {
        for (std::size_t i = 0; i < active.parameters.size(); ++i)
            updateOne(active, i);
    }

    void updateOne(Active& active, std::size_t i) const
    {
        at::Tensor parameter = active.parameters[i];
        at::Tensor gradient = plan().maximize ? -active.gradients[i] : active.gradients[i];
        if (plan().weightDecay != 0.0) {
            if (plan().kind == OptimizerKind::AdamW)
                parameter.mul_(exactFactor(1.0 - learningRate() * plan().weightDecay));
            else
                gradient = gradient.add(parameter, plan().weightDecay);
        }
        at::Tensor mean = active.state[Mean][i];
        at::Tensor square = active.state[Square][i];
        mean.lerp_(gradient, 1.0 - plan().beta1);
        square.mul_(exactFactor(plan().beta2)).addcmul_(gradient, gradient, 1.0 - plan().beta2);
        const double meanCorrection = biasCorrection(plan().beta1, active.steps[i]);
        const double squareCorrection = std::sqrt(biasCorrection(plan().beta2, active.steps[i]));
        if (plan().amsgrad) {
            at::Tensor largest = active.state[LargestSquare][i];
            square = largest.copy_(at::maximum(largest, square));
        }
        const at::Tensor denominator = (square.sqrt() / squareCorrection).add_(plan().eps);
        parameter.addcdiv_(mean, denominator, -(learningRate() / meanCorrection));
    }
};

class AdamForeach final : public Optimizer {
public:
    using Optimizer::Optimizer;

private:
    void update(Active& active, const StepScaling&, bool) override
    {
        std::vector<at::Tensor> gradients =
            plan().maximize ? at::_foreach_neg(active.gradients) : active.gradients;
        if (plan().weightDecay != 0.0) {
            if (plan().kind == OptimizerKind::AdamW)
                at::_foreach_mul_(active.parameters, 1.0 - learningRate() * plan().weightDecay);
            else
                gradients = at::_foreach_add(gradients, active.parameters, plan().weightDecay);
        }
        at::_foreach_lerp_(active.state[Mean], gradients, 1.0 - plan().beta1);
        at::_foreach_mul_(active.state[Square], plan().beta2);
        at::_foreach_addcmul_(active.state[Square], gradients, gradients, 1.0 - plan().beta2);
        if (plan().amsgrad)
            at::_foreach_maximum_(active.state[LargestSquare], active.state[Square]);
        auto denominators =
            at::_foreach_sqrt(plan().amsgrad ? active.state[LargestSquare] : active.state[Square]);
        std::vector<at::Scalar> squareCorrections;
        std::vector<at::Scalar> stepSizes;
        for (const auto& step : active.steps) {
            squareCorrections.emplace_back(std::sqrt(biasCorrection(plan().beta2, step)));
            stepSizes.emplace_back((learningRate() / biasCorrection(plan().beta1, step)) * -1.0);
        }
        at::_foreach_div_(denominators, squareCorrections);
        at::_foreach_add_(denominators, plan().eps);
        at::_foreach_addcdiv_(active.parameters, active.state[Mean], denominators, stepSizes);
    }
};

class AdamFused final : public Optimizer {
public:
    using Optimizer::Optimizer;

private:
    void update(Active& active, const StepScaling& scaling, bool) override
    {
        std::vector<at::Tensor> none;
        auto& largest = plan().amsgrad ? active.state[LargestSquare] : none;
        if (plan().kind == OptimizerKind::AdamW)
            at::_fused_adamw_(active.parameters, active.gradients, active.state[Mean], active.state[Square],
                              largest, active.steps, learningRate(), plan().beta1, plan().beta2,
                              plan().weightDecay, plan().eps, plan().amsgrad, plan().maximize,
                              scaling.gradScale, scaling.foundInf);
        else
            at::_fused_adam_(active.parameters, active.gradients, active.state[Mean], active.state[Square],
                             largest, active.steps, learningRate(), plan().beta1, plan().beta2,
                             plan().weightDecay, plan().eps, plan().amsgrad, plan().maximize,
                             scaling.gradScale, scaling.foundInf);
    }
};

} // namespace

std::unique_ptr<Optimizer> makeAdam(const OptimizerPlan& plan, std::vector<at::Tensor> parameters)
{
    switch (plan.impl) {
    case OptimizerImpl::ForLoop:
        return std::make_unique<AdamForLoop>(plan, std::move(parameters));
    case OptimizerImpl::Foreach:
        return std::make_unique<AdamForeach>(plan, std::move(parameters));
    case OptimizerImpl::Fused:
        return std::make_unique<AdamFused>(plan, std::move(parameters));
    }
    throw std::invalid_argument("unknown arithmetic");
}

} // namespace mantissa
