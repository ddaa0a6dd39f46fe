#include "engine/optim/eight_bit_state.h"

#include <algorithm>

namespace mantissa {

EightBitState::EightBitState(const DynamicMap& map, std::int64_t elements, bool packed)
    : m_map(map), m_elements(elements), m_packed(packed)
{
    if (!packed) {
        m_plain = at::zeros({elements}, at::kFloat);
        return;
    }
    m_codes.resize(static_cast<std::size_t>(elements));
    m_largest.resize(static_cast<std::size_t>((elements + kEightBitBlock - 1) / kEightBitBlock));
    store(at::zeros({elements}, at::kFloat));
}

std::int64_t EightBitState::blockEnd(std::int64_t first) const
{
    return std::min(m_elements, first + kEightBitBlock);
}

/// Calls visit(block, first element, elements).
template <typename Visit>
void EightBitState::forEachBlock(Visit visit) const
{
    for (std::size_t block = 0; block < m_largest.size(); ++block) {
        const auto first = static_cast<std::int64_t>(block) * kEightBitBlock;
        visit(block, static_cast<std::size_t>(first), static_cast<std::size_t>(blockEnd(first) - first));
    }
}

at::Tensor EightBitState::load() const
{
    if (!m_packed)
        return m_plain.clone();
    at::Tensor values = at::empty({m_elements}, at::kFloat);
    auto* data = values.mutable_data_ptr<float>();
    forEachBlock([&](std::size_t block, std::size_t first, std::size_t count) {
        m_map.decode({m_codes.data() + first, count}, m_largest[block], {data + first, count});
    });
    return values;
}

void EightBitState::store(const at::Tensor& values)
{
    if (!m_packed) {
        m_plain.copy_(values.reshape({-1}));
        return;
    }
    const at::Tensor flat = values.reshape({-1}).to(at::kFloat).contiguous();
    const auto* data = flat.const_data_ptr<float>();
    forEachBlock([&](std::size_t block, std::size_t first, std::size_t count) {
        m_largest[block] = m_map.encode({data + first, count}, {m_codes.data() + first, count});
    });
}

std::uint64_t EightBitState::bytes() const
{
    return bytesFor(m_elements, m_packed);
}

std::uint64_t EightBitState::bytesFor(std::int64_t elements, bool packed)
{
    const auto count = static_cast<std::uint64_t>(elements);
    constexpr auto kBlock = static_cast<std::uint64_t>(kEightBitBlock);
    return packed ? count + (count + kBlock - 1) / kBlock * sizeof(float) : count * sizeof(float);
}

at::Tensor EightBitState::scales() const
{
    at::Tensor scales = at::zeros({m_elements}, at::kFloat);
    auto* data = scales.mutable_data_ptr<float>();
    forEachBlock([&](std::size_t block, std::size_t first, std::size_t count) {
        std::fill_n(data + first, count, m_largest[block]);
    });
    return scales;
}

void EightBitState::restore(const at::Tensor& values, const at::Tensor& scales)
{
    store(values);
    if (!m_packed)
        return;
    const at::Tensor flat = values.reshape({-1}).to(at::kFloat).contiguous();
    const at::Tensor given = scales.reshape({-1}).to(at::kFloat).contiguous();
    const auto* data = flat.const_data_ptr<float>();
    const auto* scale = given.const_data_ptr<float>();
    forEachBlock([&](std::size_t block, std::size_t first, std::size_t count) {
        const float largest = scale[first];
        const bool same =
            std::all_of(scale + first, scale + first + count, [&](float other) { return other == largest; });
        // The largest element itself may have been rounded down: its block keeps the number that it had.
        if (!same || largest < m_largest[block])
            return;
        m_map.encodeWith(largest, {data + first, count}, {m_codes.data() + first, count});
        m_largest[block] = largest;
    });
}

} // namespace mantissa
