#pragma once

#include "engine/tensor/torch.h"

#include <cstddef>
#include <cstdint>
#include <optional>

namespace mantissa {

/// What was met of Inf and NaN in the gradients of one rank.
struct NonfiniteTally {
    std::int64_t count = 0; ///< Elements.
    /// Of the parameters with such an element the last in the model's order: backward met it first.
    std::optional<std::size_t> deepest = {};

    void add(std::int64_t elements, std::size_t parameter)
    {
        count += elements;
        if (elements > 0 && (!deepest || *deepest < parameter))
            deepest = parameter;
    }
};

/// Elements that are Inf or NaN. One pass over the bits, without a mask tensor: it runs on every gradient of
/// every step.
std::int64_t countNonfinite(const at::Tensor& tensor);

} // namespace mantissa
