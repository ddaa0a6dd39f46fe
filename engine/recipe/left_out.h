#pragma once

#include "engine/recipe/setup.h"

#include <string>
#include <vector>

namespace mantissa {

/// Settings of a set-up that this engine takes and does nothing with: those that the table of fields marks as
/// only checked, with another value than their default; arguments of strategies, plugins and callbacks that
/// no field names; objects of a kind that it does without. What says something about the target or about a
/// module of one's own (mantissa.target, mantissa.facts) is no setting of this engine.
std::vector<std::string> settingsLeftOut(const Setup& setup);

} // namespace mantissa
