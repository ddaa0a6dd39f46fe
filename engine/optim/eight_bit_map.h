#pragma once

#include "engine/recipe/optimizer_plan.h"

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace mantissa {

inline constexpr std::int64_t kEightBitBlock = 256; ///< Elements that share a largest absolute value.

/// A dynamic map: 256 numbers from -1 (or 0) to 1, closer together the smaller they are (arXiv 2110.02861),
/// and the two ways to round to them.
class DynamicMap {
public:
    enum class Sign { Signed, Unsigned };

    DynamicMap(Sign sign, Quantizer quantizer);

    const std::array<float, 256>& values() const { return m_values; }

    /// Codes of one block, whose largest absolute value is returned. A block of zeros gets 0.
    float encode(std::span<const float> block, std::span<std::uint8_t> codes) const;
    /// The same with a value that is given.
    void encodeWith(float largest, std::span<const float> block, std::span<std::uint8_t> codes) const;
    void decode(std::span<const std::uint8_t> codes, float largest, std::span<float> block) const;

private:
    std::uint8_t nearest(float scaled) const;
    std::uint8_t binned(float scaled) const;

    Quantizer m_quantizer;
    std::array<float, 256> m_values{};
    std::vector<std::uint8_t> m_bins; ///< The code of each of 65,536 values from -1 to 1.
};

} // namespace mantissa
