#pragma once

#include "engine/core/result.h"
#include "engine/recipe/stage.h"

#include <cstdint>
#include <exception>
#include <stdexcept>
#include <string>
#include <vector>

namespace mantissa {

/// Why a rank ended early: which, where, and the cause in words.
struct RankFailure {
    int rank = 0;
    Stage stage = Stage::Setup;
    std::int64_t step = 0;
    ErrorCode code = ErrorCode::Internal;
    std::string cause;
    std::string hint;
    bool followed = false; ///< Only because another rank had failed, or the run was closed.
    bool onPurpose = false; ///< The set-up asked for it (mantissa.inject).
};

/// What a rank throws where the set-up asks it to.
struct FailureOnPurpose : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// The failure behind an exception that came out of a rank's work.
RankFailure failureOf(const std::exception_ptr& thrown, int rank);

/// The one that the others followed: the earliest step, then the lowest rank. Null where none is its own.
const RankFailure* firstCause(const std::vector<RankFailure>& failures);

/// "Rank 1 failed at Backward in step 12: out of memory"
std::string describe(const RankFailure& failure);

} // namespace mantissa
