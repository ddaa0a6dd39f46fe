#pragma once

#include "engine/interop/model_sizes.h"

#include <nlohmann/json_fwd.hpp>

namespace mantissa {

/// Adds the units up.
ModelSizes sumOfUnits(std::vector<ModelUnit> units, bool computed);

/// The sizes of a model by the architecture that a `config.json` describes. Throws what the JSON library
/// throws where a number is missing or none.
Result<ModelSizes> sizesOfArchitecture(const nlohmann::json& config, const std::string& file);

} // namespace mantissa
