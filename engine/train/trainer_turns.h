#pragma once

#include "engine/model/model.h"
#include "engine/optim/optimizer.h"
#include "engine/strategy/strategy.h"
#include "engine/train/trainer_meter.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace mantissa {

/// An optimizer with the weights that it steps. Automatic optimization has one, over all weights; a model
/// that brings several has one for each, which take turns in a step of the run.
struct Turn {
    std::unique_ptr<Optimizer> optimizer;
    std::vector<std::size_t> members; ///< In the order of Strategy::parameters().
    UpdateMeter meter;
};
std::vector<Turn> makeTurns(const RunPlan& plan, const Model& model, const Strategy& strategy);

/// What a window adds up for one of them, this rank's part.
struct TurnSums {
    double loss = 0.0;
    double gradientSquares = 0.0;
    std::int64_t passes = 0;
    std::int64_t steps = 0; ///< Skipped ones included.
};
std::int64_t stepsOf(const std::vector<TurnSums>& turns);

} // namespace mantissa
