#pragma once

#include "engine/tensor/torch.h"

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace mantissa {

/// A training between two steps as plain tensors and JSON: what a checkpoint holds.
struct TrainerState {
    /// "model.<parameter>", "buffer.<name>", "optimizer.<state>.<parameter>", "rng.<rank>".
    std::vector<std::pair<std::string, at::Tensor>> tensors;
    /// Whole shapes of the tensors of which this is a rank's one-dimensional piece; empty: all are whole.
    std::map<std::string, std::vector<std::int64_t>> shapes;
    std::string json; ///< Step, epoch, position in the data, scaler, schedule, the optimizer's counters.
};

} // namespace mantissa
