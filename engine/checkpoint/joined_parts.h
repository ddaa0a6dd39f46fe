#pragma once

#include "engine/checkpoint/safetensors.h"
#include "engine/core/result.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace mantissa {

/// Puts tensors together that ranks hold in pieces: each piece is one-dimensional, and in rank order they are
/// the whole laid end to end. What has no shape is whole already.
class JoinedParts {
public:
    using Shapes = std::map<std::string, std::vector<std::int64_t>>;

    explicit JoinedParts(const Shapes& shapes) : m_shapes(shapes) {}

    void add(const std::string& name, at::Tensor tensor); ///< Those of rank 0 first, then those of rank 1, …
    /// Damaged where pieces do not give their whole, or a name came twice.
    Result<NamedTensors> whole() const;

private:
    const Shapes& m_shapes;
    std::vector<std::pair<std::string, std::vector<at::Tensor>>> m_pieces; ///< In the order of coming.
    std::map<std::string, std::size_t> m_index;
};

} // namespace mantissa
