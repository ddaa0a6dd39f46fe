#pragma once

#include "engine/recipe/setup.h"

#include <map>
#include <string>
#include <string_view>

namespace mantissa {

/// The flat names of `check --batch`: "precision", "strategy.fsdp.state_dict_type",
/// "callback.EarlyStopping.patience".
using Knobs = std::map<std::string, Value, std::less<>>;

/// Every knob finds a place. Those without a setting of their own are under `mantissa.knobs`, by their whole
/// name.
Setup setupFromKnobs(const Knobs& knobs);

/// The other way. Settings that no knob names are left out.
Knobs knobsFromSetup(const Setup& setup);

/// The value of one knob, wherever it stands; absent where nobody set it.
Value knobValue(const Setup& setup, std::string_view knob);

/// Where a knob stands when it is set; the path under `mantissa.knobs` for those without a setting of their
/// own.
std::string pathOfKnob(const Setup& setup, std::string_view knob);

} // namespace mantissa
