#include "engine/optim/arithmetic.h"
#include "engine/tensor/dtype.h"

#include <algorithm>

namespace mantissa {
namespace {

/// What all three keep.
class Sgd : public Optimizer {
public:
    using Optimizer::Optimizer;
    std::vector<std::string> stateNames() const override
    {
        return plan().momentum != 0.0 ? std::vector<std::string>{"momentum_buffer"}
                                      : std::vector<std::string>{};
    }
};

class SgdForLoop final : public Sgd {
public:
    using Sgd::Sgd;

private:
    void update(Active& active, const StepScaling&, bool first) override
    {
        for (std::size_t i = 0; i < active.parameters.size(); ++i)
            updateOne(active, i, first);
    }

    static void updateOne(Active& active, std::size_t i, bool first)
    {
        const auto& plan = active.plan;
        at::Tensor parameter = active.parameters[i];
        at::Tensor gradient = decayedGradient(plan, active.gradients[i], parameter);
        at::Tensor buffer = active.state.empty() ? at::Tensor() : active.state[0][i];
        if (plan.momentum != 0.0) {
            if (first)
                buffer.copy_(gradient);
            else
                buffer.mul_(exactFactor(plan.momentum)).add_(gradient, 1.0 - plan.dampening);
            gradient = plan.nesterov ? gradient.add(buffer, plan.momentum) : buffer;
        }
        parameter.add_(gradient, -active.rate);
    }
};

class SgdForeach final : public Sgd {
public:
    using Sgd::Sgd;

private:
    void update(Active& active, const StepScaling&, bool first) override
    {
        const auto& plan = active.plan;
        auto gradients = decayedGradients(plan, active.gradients, active.parameters);
        if (plan.momentum != 0.0) {
            auto& buffers = active.state[0];
            if (first) {
                at::_foreach_copy_(buffers, gradients);
            } else {
                at::_foreach_mul_(buffers, plan.momentum);
                at::_foreach_add_(buffers, gradients, 1.0 - plan.dampening);
            }
            gradients = plan.nesterov ? at::_foreach_add(gradients, buffers, plan.momentum) : buffers;
        }
        at::_foreach_add_(active.parameters, gradients, -active.rate);
    }
};

class SgdFused final : public Sgd {
public:
    using Sgd::Sgd;

private:
    void update(Active& active, const StepScaling& scaling, bool first) override
    {
        std::vector<at::Tensor> buffers = active.state.empty() ? std::vector<at::Tensor>() : active.state[0];
        const bool half = std::any_of(active.parameters.begin(), active.parameters.end(),
                                      [](const at::Tensor& t) { return isHalf(t.scalar_type()); });
        if (half)
            updateThroughFloat(active, buffers, scaling, first);
        else
            kernel(active, {active.parameters, active.gradients, buffers}, scaling, first);
    }

    struct Tensors {
        std::vector<at::Tensor> parameters;
        std::vector<at::Tensor> gradients;
        std::vector<at::Tensor> buffers;
    };

    static void kernel(const Active& active, const Tensors& tensors, const StepScaling& scaling, bool first)
    {
        const auto& plan = active.plan;
        at::_fused_sgd_(tensors.parameters, tensors.gradients, tensors.buffers, plan.weightDecay,
                        plan.momentum, active.rate, plan.dampening, plan.nesterov, plan.maximize, first,
                        scaling.gradScale, scaling.foundInf);
    }

    /// LibTorch 2.11's kernel leaves whole vector blocks of 16-bit parameters unchanged. It computes in fp32
    /// and rounds once at the end; so does this.
    static void updateThroughFloat(Active& active, std::vector<at::Tensor>& buffers,
                                   const StepScaling& scaling, bool first)
    {
        const auto widened = [](const std::vector<at::Tensor>& tensors) {
            std::vector<at::Tensor> wide;
            for (const auto& tensor : tensors)
                wide.push_back(tensor.to(at::kFloat));
            return wide;
        };
        const Tensors wide = {widened(active.parameters), widened(active.gradients), widened(buffers)};
        kernel(active, wide, scaling, first);
        at::_foreach_copy_(active.parameters, wide.parameters);
        at::_foreach_copy_(active.gradients, wide.gradients);
        at::_foreach_copy_(buffers, wide.buffers);
    }
};

} // namespace

std::unique_ptr<Optimizer> makeSgd(const OptimizerPlan& plan, std::vector<at::Tensor> parameters,
                                   std::vector<ParameterGroup> groups)
{
    return makeByImplementation<SgdForLoop, SgdForeach, SgdFused>(plan, std::move(parameters),
                                                                  std::move(groups));
}

} // namespace mantissa
