#pragma once

#include <string_view>

namespace mantissa {

/// Whether a flat name is one of the vocabulary of `check --batch`: a field's, a fact's, or an argument of a
/// class that the ecosystem has. Rules need not read it.
bool isKnownKnob(std::string_view knob);

} // namespace mantissa
