#pragma once

#include "engine/recipe/setup.h"

#include <string>
#include <vector>

namespace mantissa {

/// Where a class is to be named and something else stands.
struct OddShape {
    std::string path; ///< "trainer.callbacks[1]"
    std::string message;
    std::string hint;
};

/// Sections and lists that name classes: the strategy, callbacks, plugins, loggers, model, data, optimizer
/// and schedule.
std::vector<OddShape> oddShapes(const Setup& setup);

} // namespace mantissa
