#pragma once

#include "engine/core/result.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace mantissa {

/// Whether a replay went the way of its run.
struct ReplayReport {
    std::int64_t steps = 0; ///< Compared.
    bool hashed = false; ///< The parameters were compared after each of them.
    std::optional<std::int64_t> differsFrom; ///< The first step with another value; none: the same bits.
    std::string series; ///< … and of what.
};

/// Compares every series that promises the same bits, over the steps that the replay made.
Result<ReplayReport> checkReplay(const std::filesystem::path& run, const std::filesystem::path& replay);

} // namespace mantissa
