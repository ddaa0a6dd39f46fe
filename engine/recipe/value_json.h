#pragma once

#include "engine/recipe/value.h"

#include <nlohmann/json_fwd.hpp>

namespace mantissa {

/// JSON as it is handed in and out by the command line. Absent becomes null; numbers that JSON has no word
/// for become "NaN", "Infinity" and "-Infinity".
Value valueFromJson(const nlohmann::json& json);
nlohmann::json jsonFromValue(const Value& value);

} // namespace mantissa
