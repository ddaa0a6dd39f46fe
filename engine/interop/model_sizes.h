#pragma once

#include "engine/core/result.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace mantissa {

/// Weights that a sharding strategy would gather together: a block, or what is outside of all blocks.
struct ModelUnit {
    std::string name; ///< "model.layers.7"; "root" for the rest.
    std::int64_t elements = 0;
    std::uint64_t bytes = 0; ///< As the file stores them.
    bool operator==(const ModelUnit&) const = default;
};

/// How large a model is, unit by unit, in their order, the root last: for planning a run of a model that is
/// not trained here. A plain value.
struct ModelSizes {
    std::vector<ModelUnit> units;
    std::int64_t elements = 0;
    std::uint64_t bytes = 0;
    std::int64_t largestUnit = 0; ///< Elements.
    bool computed = false; ///< From a description of the architecture, not from weights.
};

/// From the header of a safetensors file, from an index of several (their headers are read beside it), or
/// from the `config.json` of a Hugging Face model. No weight is read.
Result<ModelSizes> readModelSizes(const std::filesystem::path& file);

} // namespace mantissa
