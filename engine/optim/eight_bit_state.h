#pragma once

#include "engine/optim/eight_bit_map.h"
#include "engine/tensor/torch.h"

#include <cstdint>
#include <vector>

namespace mantissa {

/// One state of one parameter: a code for each element and a number for each block, or plain fp32 where the
/// parameter is small.
class EightBitState {
public:
    EightBitState(const DynamicMap& map, std::int64_t elements, bool packed);

    bool isPacked() const { return m_packed; }
    at::Tensor load() const; ///< fp32, flat.
    void store(const at::Tensor& values);

    /// The largest absolute value of each element's block, and 0 where nothing is packed: with it and load()
    /// the codes can be made again, bit for bit, whatever became of the blocks in between.
    at::Tensor scales() const;
    /// Puts back what load() and scales() gave. Where blocks lie otherwise now, they are made anew.
    void restore(const at::Tensor& values, const at::Tensor& scales);

    std::uint64_t bytes() const;
    static std::uint64_t bytesFor(std::int64_t elements, bool packed);

    const std::vector<std::uint8_t>& codes() const { return m_codes; }
    const std::vector<float>& largest() const { return m_largest; }

private:
    std::int64_t blockEnd(std::int64_t first) const;
    template <typename Visit>
    void forEachBlock(Visit visit) const;

    const DynamicMap& m_map;
    std::int64_t m_elements;
    bool m_packed;
    at::Tensor m_plain;
    std::vector<std::uint8_t> m_codes;
    std::vector<float> m_largest;
};

} // namespace mantissa
