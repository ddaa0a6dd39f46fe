#pragma once

#include "engine/optim/optimizer.h"

namespace mantissa {

// The three arithmetics of each optimizer. They are the same algorithm; the order and the grouping of the
// roundings differ, and each follows the code path of the same name in PyTorch's Python optimizers, bit for
// bit in one process.

std::unique_ptr<Optimizer> makeSgd(const OptimizerPlan& plan, std::vector<at::Tensor> parameters);
std::unique_ptr<Optimizer> makeAdam(const OptimizerPlan& plan, std::vector<at::Tensor> parameters);

/// A factor in double: LibTorch rounds a plain number to bf16 or fp16 before it multiplies, Python's for-loop
/// code does not.
at::Tensor exactFactor(double value);

} // namespace mantissa
