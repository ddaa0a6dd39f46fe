#pragma once

#include <functional>
#include <string>

namespace at {
class Tensor;
}

namespace mantissa {

namespace layer_quantity {
inline constexpr const char* kOutput = "output";
inline constexpr const char* kLoss = "loss";
inline constexpr const char* kOutputGradient = "output_gradient";
inline constexpr const char* kWeightGradient = "weight_gradient";
} // namespace layer_quantity

/// Is shown each tensor when it is made. `layer` is empty for the loss.
using LayerSink =
    std::function<void(const std::string& layer, const char* quantity, const at::Tensor& tensor)>;

} // namespace mantissa
