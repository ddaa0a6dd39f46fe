#pragma once

#include "engine/tensor/torch.h"

#include <vector>

namespace mantissa {

/// A number that two lists of tensors share only if all their bits are the same, but for one chance in 2^52.
/// Whole and below 2^52, so that a series of doubles holds it exactly.
double parameterHash(const std::vector<at::Tensor>& tensors);

} // namespace mantissa
