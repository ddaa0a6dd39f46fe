#pragma once

#include "app/cli/json_text.h"
#include "engine/rules/check.h"

#include <string>
#include <vector>

namespace mantissa::cli {

/// Findings as scripts read them. The keys are a promise.
Json jsonOf(const Finding& finding);
Json jsonOf(const std::vector<Finding>& findings);
Json jsonOf(const CheckReport& report, const std::string& file);

} // namespace mantissa::cli
