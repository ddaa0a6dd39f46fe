#pragma once

#include "engine/recipe/knobs.h"

#include <string>
#include <vector>

namespace mantissa {

/// What is wrong with flat knobs before any rule looks at them.
struct KnobCheck {
    std::vector<std::string> unknown; ///< Names outside the vocabulary: no rule reads them.
    std::string error; ///< The first value of a kind that its knob never has; empty: none.
};

/// Lenient as the real package is: a wrong number or word of the right kind is the rules' to judge.
KnobCheck checkKnobs(const Knobs& knobs);

} // namespace mantissa
