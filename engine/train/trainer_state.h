#pragma once

#include "engine/tensor/torch.h"

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace mantissa {

/// How the names of a training's tensors begin.
namespace state_name {
inline constexpr const char* kWeight = "model."; ///< Then the parameter.
inline constexpr const char* kBuffer = "buffer."; ///< Then its name.
inline constexpr const char* kOptimizer = "optimizer."; ///< Then state and parameter.
inline constexpr const char* kGenerator = "rng."; ///< Then the rank.
inline constexpr const char* kFp8 = "fp8."; ///< Then the layer and what of it.
inline constexpr const char* kRankBuffer = "rank_buffer."; ///< Then name and rank.
inline constexpr const char* kCallback = "callback."; ///< Then callback, state and parameter.
inline constexpr const char* kCallbackOwn = "callback_own."; ///< Then callback and tensor.
inline constexpr const char* kRankCallback = "rank_callback."; ///< Then callback, tensor and rank.
} // namespace state_name

/// A training between two steps as plain tensors and JSON: what a checkpoint holds.
struct TrainerState {
    std::vector<std::pair<std::string, at::Tensor>> tensors;
    /// Whole shapes of the tensors of which this is a rank's one-dimensional piece; empty: all are whole.
    std::map<std::string, std::vector<std::int64_t>> shapes;
    std::string json; ///< Step, epoch, position in the data, scaler, schedule, the optimizer's counters.
};

} // namespace mantissa
