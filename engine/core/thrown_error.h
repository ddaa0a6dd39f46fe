#pragma once

#include "engine/core/result.h"

#include <stdexcept>
#include <utility>

namespace mantissa {

/// An Error on its way out of code that can only throw: it keeps its code and its hint.
struct ThrownError : std::runtime_error {
    explicit ThrownError(Error thrown) : std::runtime_error(thrown.message), error(std::move(thrown)) {}
    Error error;
};

} // namespace mantissa
