#pragma once

#include "engine/rules/check.h"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace mantissa {

/// JSON whose keys stay in the order in which they were put in.
using Json = nlohmann::ordered_json;

/// Findings as scripts read them and as runs store them. The keys are a promise.
Json jsonOf(const Finding& finding);
Json jsonOf(const std::vector<Finding>& findings);
Json jsonOf(const std::vector<Assumption>& assumed);
Json jsonOf(const CheckReport& report, const std::string& file);

/// On one line. Bytes that are no UTF-8 are replaced.
std::string textOf(const Json& json);

} // namespace mantissa
