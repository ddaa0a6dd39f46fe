#pragma once

#include "engine/recipe/run_plan.h"

#include <nlohmann/json.hpp>

#include <stdexcept>

namespace mantissa {

/// A trace asks for something that this engine does not have.
struct TraceLack : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// The sharded strategy of a recorded training. Throws TraceLack, or what its JSON does not hold.
void readShardedEngine(const nlohmann::json& engine, RunPlan& plan);

} // namespace mantissa
