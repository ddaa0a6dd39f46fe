#pragma once

#include "engine/tensor/torch.h"

#include <optional>
#include <string_view>

namespace mantissa {

/// "fp32", "bf16", "fp16", "fp64", "int64", …: as the diagram and the messages say it.
std::string_view dtypeName(at::ScalarType type);
/// Takes our names and PyTorch's ("float32", "bfloat16").
std::optional<at::ScalarType> dtypeFromName(std::string_view name);

bool isHalf(at::ScalarType type); ///< fp16 or bf16.

} // namespace mantissa
