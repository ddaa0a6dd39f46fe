#pragma once

#include "engine/tensor/torch.h"

#include <cstdint>

namespace mantissa {

/// Elements that are Inf or NaN. One pass over the bits, without a mask tensor: it runs on every gradient of
/// every step.
std::int64_t countNonfinite(const at::Tensor& tensor);

} // namespace mantissa
