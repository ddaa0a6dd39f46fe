#pragma once

#include "engine/rules/check.h"

namespace mantissa {

/// From the findings, which are in order: the first error decides.
VerdictReport verdictOnTarget(const Setup& setup, const Target& target, const std::vector<Finding>& findings);

/// Whether this engine can train the set-up, and on how many ranks.
VerdictReport verdictHere(const Setup& setup, const std::vector<Finding>& findings);

} // namespace mantissa
