#pragma once

#include "engine/tensor/torch.h"

#include <string>
#include <utility>
#include <vector>

namespace mantissa {

/// A stopped training as plain tensors and JSON: what a checkpoint holds. Tensors have whole, unsharded
/// shapes.
struct TrainerState {
    /// "model.<parameter>", "buffer.<name>", "optimizer.<state>.<parameter>", "rng.<rank>".
    std::vector<std::pair<std::string, at::Tensor>> tensors;
    std::string json; ///< Step, epoch, position in the data, scaler, schedule, the optimizer's counters.
};

} // namespace mantissa
