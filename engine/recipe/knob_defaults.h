#pragma once

#include "engine/recipe/knobs.h"

namespace mantissa {

/// A row of flat names says everything: what it leaves out has the vocabulary's own default. Adds the facts
/// about module and data that a set-up file, which cannot hold them, leaves unknown.
Knobs withKnobDefaults(Knobs knobs);

} // namespace mantissa
