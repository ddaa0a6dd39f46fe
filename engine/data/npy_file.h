#pragma once

#include "engine/core/result.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace mantissa {

/// An array as NumPy's `save` writes it, in C order.
struct NpyArray {
    char kind = 'f'; ///< 'f' float, 'i' signed, 'u' unsigned, 'b' bool, as in NumPy's descriptions.
    int bytes = 4; ///< Of one element.
    std::vector<std::int64_t> shape;
    std::string content; ///< The file; elements begin at `begin`.
    std::size_t begin = 0;

    std::int64_t rowLength() const; ///< Elements of one entry along the first axis.
    double at(std::int64_t element) const;
};

/// Damaged, with the offset, where header and content disagree; InvalidSetup, with a line of Python that
/// helps, where the array is of a kind that is not read.
Result<NpyArray> readNpy(const std::filesystem::path& file, const std::string& setting);

} // namespace mantissa
