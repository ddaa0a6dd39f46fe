#pragma once

#include <stdexcept>
#include <string>
#include <utility>

namespace mantissa {

/// The documented error of the target, raised by the engine's own unscale or clip call in a faithful run.
struct RefusedCall : std::runtime_error {
    RefusedCall(std::string kindOfError, const std::string& words)
        : std::runtime_error(words), kind(std::move(kindOfError))
    {
    }
    std::string kind; ///< "NotImplementedError"
};

} // namespace mantissa
