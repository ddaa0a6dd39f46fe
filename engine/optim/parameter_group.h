#pragma once

#include "engine/recipe/optimizer_plan.h"

#include <cstdint>
#include <string>
#include <vector>

namespace mantissa {

/// What an optimizer has to know of a parameter beside its tensor, which may be a slice of it.
struct ParameterShape {
    std::string name;
    std::int64_t dimensions = 0; ///< Of the whole parameter.
};

/// Parameters of one optimizer that share their numbers.
struct ParameterGroup {
    OptimizerPlan plan;
    std::vector<std::size_t> members; ///< Indices, ascending.
};

/// Cuts parameters into groups as the plan says: by patterns over names, then by whether they are decayed.
/// The first group has no pattern, and may be empty.
std::vector<ParameterGroup> parameterGroups(const OptimizerPlan& plan,
                                            const std::vector<ParameterShape>& parameters);

/// `*` stands for any text, everything else for itself.
bool fitsPattern(std::string_view pattern, std::string_view text);

} // namespace mantissa
