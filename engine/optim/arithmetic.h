#pragma once

#include "engine/optim/optimizer.h"

namespace mantissa {

// The arithmetics of each optimizer. They are the same algorithm; the order and the grouping of the roundings
// differ, and each follows the code path of the same name in PyTorch's Python optimizers, bit for bit in one
// process. Where a class has no fused kernel, the plan never asks for one.

std::unique_ptr<Optimizer> makeSgd(const OptimizerPlan& plan, std::vector<at::Tensor> parameters,
                                   std::vector<ParameterGroup> groups);
std::unique_ptr<Optimizer> makeAdam(const OptimizerPlan& plan, std::vector<at::Tensor> parameters,
                                    std::vector<ParameterGroup> groups);
std::unique_ptr<Optimizer> makeAdagrad(const OptimizerPlan& plan, std::vector<at::Tensor> parameters,
                                       std::vector<ParameterGroup> groups);
std::unique_ptr<Optimizer> makeRmsProp(const OptimizerPlan& plan, std::vector<at::Tensor> parameters,
                                       std::vector<ParameterGroup> groups);
std::unique_ptr<Optimizer> makeLion(const OptimizerPlan& plan, std::vector<at::Tensor> parameters,
                                    std::vector<ParameterGroup> groups);
std::unique_ptr<Optimizer> makeLbfgs(const OptimizerPlan& plan, std::vector<at::Tensor> parameters,
                                     std::vector<ParameterGroup> groups);
std::unique_ptr<Optimizer> makeEightBit(const OptimizerPlan& plan, std::vector<at::Tensor> parameters,
                                        std::vector<ParameterGroup> groups);

/// The implementation that a plan asks for, of the three that a class has; throws where it lacks that one.
template <typename ForLoop, typename Foreach, typename Fused>
std::unique_ptr<Optimizer> makeByImplementation(const OptimizerPlan& plan, std::vector<at::Tensor> parameters,
                                                std::vector<ParameterGroup> groups)
{
    if (plan.impl == OptimizerImpl::ForLoop)
        return std::make_unique<ForLoop>(plan, std::move(parameters), std::move(groups));
    if (plan.impl == OptimizerImpl::Foreach)
        return std::make_unique<Foreach>(plan, std::move(parameters), std::move(groups));
    if constexpr (!std::is_void_v<Fused>)
        return std::make_unique<Fused>(plan, std::move(parameters), std::move(groups));
    throw std::invalid_argument("this optimizer has no fused kernel");
}

/// What an optimizer follows: the gradient, uphill where it maximizes, with weight decay as a pull towards 0.
at::Tensor decayedGradient(const OptimizerPlan& plan, const at::Tensor& gradient,
                           const at::Tensor& parameter);
std::vector<at::Tensor> decayedGradients(const OptimizerPlan& plan, const std::vector<at::Tensor>& gradients,
                                         const std::vector<at::Tensor>& parameters);

/// A factor in double: LibTorch rounds a plain number to bf16 or fp16 before it multiplies, Python's for-loop
/// code does not.
at::Tensor exactFactor(double value);

} // namespace mantissa
