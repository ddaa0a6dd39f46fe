#pragma once

#include "engine/strategy/strategy.h"
#include "engine/tensor/torch.h"

#include <vector>

namespace mantissa {

/// Whether the gradients of a rank are whole, so that the norm needs no other rank, or its part of them.
enum class GradientParts { Whole, Sharded };

/// p-norm of all gradients together; p may be infinity. Whole gradients: the norm of the norms of the
/// tensors, in their own dtype, as torch.nn.utils has it. Sharded ones: in double, over all ranks.
double totalNorm(const std::vector<at::Tensor>& gradients, double p, GradientParts parts, Strategy& strategy);

/// Multiplies every gradient by min(1, maxNorm / (norm + 1e-6)), always, and returns the norm from before.
double clipByNorm(const std::vector<at::Tensor>& gradients, double maxNorm, double p, GradientParts parts,
                  Strategy& strategy);

/// Clamps every element to ±limit.
void clipByValue(const std::vector<at::Tensor>& gradients, double limit);

/// Sum of squares in double: one rank's share of an L2 norm.
double sumOfSquares(const std::vector<at::Tensor>& tensors);

} // namespace mantissa
