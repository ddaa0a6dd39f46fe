#pragma once

#include "engine/core/result.h"
#include "engine/model/model.h"

#include <string>
#include <vector>

namespace mantissa {

/// A name that fits no weight is a slip of the pen: nothing would be frozen, and nobody would know.
/// InvalidSetup, with the names that there are.
Result<void> checkFrozen(const std::vector<ParameterSpec>& weights, const std::vector<std::string>& frozen);

} // namespace mantissa
