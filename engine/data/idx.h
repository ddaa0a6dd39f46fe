#pragma once

#include "engine/core/result.h"

#include <cstdint>
#include <filesystem>
#include <vector>

namespace mantissa {

/// The content of an IDX file of bytes: its sizes and its elements.
struct IdxBytes {
    std::vector<std::int64_t> sizes;
    std::vector<std::uint8_t> bytes;
};

/// Reads an IDX file, packed with gzip or not. Damaged where its sizes and its length disagree.
Result<IdxBytes> readIdx(const std::filesystem::path& file);

} // namespace mantissa
