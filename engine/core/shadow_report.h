#pragma once

#include "engine/recipe/run_plan.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mantissa {

/// One optimizer step, made twice: in fp32 and in the set-up's precision, from the same weights and batches.
/// On one rank, which takes rank 0's first rows with whole weights. No callback and no injected fault takes
/// part.
struct ShadowRequest {
    RunPlan plan;
    std::filesystem::path
        checkpoint; ///< Weights, optimizer state and place in the data; empty: a fresh start.
    std::int64_t batches = 1; ///< Micro batches of the step, whatever the set-up accumulates.
};

/// What is compared of a layer.
namespace shadow_quantity {
inline constexpr std::string_view kActivation = "activation"; ///< The layer's output.
inline constexpr std::string_view kActivationGradient = "activation gradient"; ///< … what comes back to it.
inline constexpr std::string_view kWeightGradient = "weight gradient"; ///< Unscaled, before clipping.
inline constexpr std::string_view kUpdate = "update"; ///< What the step did to the weights.
} // namespace shadow_quantity

/// x is the set-up's tensor and x32 that of fp32; gradients have the loss scale divided out. All shares are
/// of all elements.
struct ShadowRow {
    std::string layer; ///< "blocks.3"
    std::string quantity;
    std::string dtype; ///< What x is kept in: "bf16".
    std::int64_t elements = 0;
    double relativeError = 0.0; ///< ‖x − x32‖₂ / ‖x32‖₂; NaN where x32 is all zero.
    double flushed = 0.0; ///< Not zero in fp32, zero in the set-up's precision.
    double saturated = 0.0; ///< Finite in fp32, at its format's largest number, Inf or NaN in the set-up's.
    std::optional<double>
        stalled; ///< Of an update: not zero in fp32, and the set-up's weight kept its value.
};

struct ShadowReport {
    std::string precision; ///< "16-mixed"
    int ranks = 1; ///< Of the set-up; one took part.
    std::int64_t step = 0; ///< 0-based.
    std::int64_t epoch = 0;
    std::vector<std::int64_t> batches; ///< Index in the epoch of each micro batch.
    std::int64_t samples = 0;
    double learningRate = 0.0;
    double loss = 0.0;
    double loss32 = 0.0;
    std::optional<double> lossScale; ///< That the set-up's side used.
    bool skipped = false; ///< … and that made it leave its step out: there are no updates to compare.
    std::vector<ShadowRow> rows; ///< In the order of the model's layers.
};

} // namespace mantissa
