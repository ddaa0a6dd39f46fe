#include "engine/optim/arithmetic.h"
#include "engine/tensor/dtype.h"

#include <algorithm>

namespace mantissa {
namespace {

class SgdForLoop final : public Optimizer {
public:
    using Optimizer::Optimizer;

private:
    void update(Active& active, const StepScaling&, bool first) override
    {
        for (std::size_t i = 0; i < active.parameters.size(); ++i)
            updateOne(active.parameters[i], active.gradients[i],
                      active.state.empty() ? at::Tensor() : active.state[0][i], first);
    }

    void updateOne(at::Tensor& parameter, at::Tensor gradient, at::Tensor buffer, bool first) const
    {
        if (plan().maximize)
            gradient = -gradient;
        if (plan().weightDecay != 0.0)
            gradient = gradient.add(parameter, plan().weightDecay);
        if (plan().momentum != 0.0) {
            if (first)
                buffer.copy_(gradient);
            else
                buffer.mul_(exactFactor(plan().momentum)).add_(gradient, 1.0 - plan().dampening);
            gradient = plan().nesterov ? gradient.add(buffer, plan().momentum) : buffer;
        }
        parameter.add_(gradient, -learningRate());
    }
};

class SgdForeach final : public Optimizer {
public:
    using Optimizer::Optimizer;

private:
    void update(Active& active, const StepScaling&, bool first) override
    {
        std::vector<at::Tensor> gradients = active.gradients;
        if (plan().maximize)
            gradients = at::_foreach_neg(gradients);
        if (plan().weightDecay != 0.0)
            gradients = at::_foreach_add(gradients, active.parameters, plan().weightDecay);
        if (plan().momentum != 0.0) {
            auto& buffers = active.state[0];
            if (first) {
                at::_foreach_copy_(buffers, gradients);
            } else {
                at::_foreach_mul_(buffers, plan().momentum);
                at::_foreach_add_(buffers, gradients, 1.0 - plan().dampening);
            }
            gradients = plan().nesterov ? at::_foreach_add(gradients, buffers, plan().momentum) : buffers;
        }
        at::_foreach_add_(active.parameters, gradients, -learningRate());
    }
};

class SgdFused final : public Optimizer {
public:
    using Optimizer::Optimizer;

private:
    void update(Active& active, const StepScaling& scaling, bool first) override
    {
        std::vector<at::Tensor> buffers = active.state.empty() ? std::vector<at::Tensor>() : active.state[0];
        const bool half = std::any_of(active.parameters.begin(), active.parameters.end(),
                                      [](const at::Tensor& t) { return isHalf(t.scalar_type()); });
        if (half)
            updateThroughFloat(active, buffers, scaling, first);
        else
            kernel(active.parameters, active.gradients, buffers, scaling, first);
    }

    void kernel(std::vector<at::Tensor>& parameters, std::vector<at::Tensor>& gradients,
                std::vector<at::Tensor>& buffers, const StepScaling& scaling, bool first) const
    {
        at::_fused_sgd_(parameters, gradients, buffers, plan().weightDecay, plan().momentum, learningRate(),
                        plan().dampening, plan().nesterov, plan().maximize, first, scaling.gradScale,
                        scaling.foundInf);
    }

    /// LibTorch 2.11's kernel leaves whole vector blocks of 16-bit parameters unchanged. It computes in fp32
    /// and rounds once at the end; so does this.
    void updateThroughFloat(Active& active, std::vector<at::Tensor>& buffers, const StepScaling& scaling,
                            bool first) const
    {
        const auto widened = [](const std::vector<at::Tensor>& tensors) {
            std::vector<at::Tensor> wide;
            for (const auto& tensor : tensors)
                wide.push_back(tensor.to(at::kFloat));
            return wide;
        };
        auto parameters = widened(active.parameters);
        auto gradients = widened(active.gradients);
        auto wideBuffers = widened(buffers);
        kernel(parameters, gradients, wideBuffers, scaling, first);
        at::_foreach_copy_(active.parameters, parameters);
        at::_foreach_copy_(active.gradients, gradients);
        at::_foreach_copy_(buffers, wideBuffers);
    }
};

} // namespace

std::unique_ptr<Optimizer> makeSgd(const OptimizerPlan& plan, std::vector<at::Tensor> parameters)
{
    switch (plan.impl) {
    case OptimizerImpl::ForLoop:
        return std::make_unique<SgdForLoop>(plan, std::move(parameters));
    case OptimizerImpl::Foreach:
        return std::make_unique<SgdForeach>(plan, std::move(parameters));
    case OptimizerImpl::Fused:
        return std::make_unique<SgdFused>(plan, std::move(parameters));
    }
    throw std::invalid_argument("unknown arithmetic");
}

} // namespace mantissa
