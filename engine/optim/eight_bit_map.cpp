#include "engine/optim/eight_bit_map.h"

#include <algorithm>
#include <cmath>

namespace mantissa {
namespace {

constexpr int kDecades = 7;
constexpr int kBins = 65536;
constexpr float kBinsPerUnit = 32767.5F;

/// `count` equal steps from 0.1 to 1, counted from the nearer end and rounded once, as torch.linspace does
/// it: so the map is bitsandbytes', bit for bit.
std::vector<float> boundaries(int count)
{
    constexpr float kFirst = 0.1F;
    constexpr float kLast = 1.0F;
    const float step = (kLast - kFirst) / static_cast<float>(count);
    std::vector<float> ends;
    for (int i = 0; i <= count; ++i) {
        const bool lower = i < (count + 1) / 2;
        ends.push_back(lower ? std::fma(step, static_cast<float>(i), kFirst)
                             : std::fma(-step, static_cast<float>(count - i), kLast));
    }
    return ends;
}

} // namespace

DynamicMap::DynamicMap(Sign sign, Quantizer quantizer) : m_quantizer(quantizer)
{
    std::vector<float> values = {0.0F, 1.0F};
    for (int decade = 0; decade < kDecades; ++decade) {
        const auto size = static_cast<float>(std::pow(10.0, decade - (kDecades - 1)));
        const auto ends = boundaries(sign == Sign::Signed ? 1 << decade : 2 << decade);
        for (std::size_t i = 0; i + 1 < ends.size(); ++i) {
            const float middle = size * ((ends[i] + ends[i + 1]) / 2.0F);
            values.push_back(middle);
            if (sign == Sign::Signed)
                values.push_back(-middle);
        }
    }
    std::sort(values.begin(), values.end());
    std::copy(values.begin(), values.end(), m_values.begin());
    if (quantizer == Quantizer::Bins) {
        for (int bin = 0; bin < kBins; ++bin)
            m_bins.push_back(nearest(static_cast<float>(bin) / kBinsPerUnit - 1.0F));
    }
}

std::uint8_t DynamicMap::nearest(float scaled) const
{
    const auto above = std::lower_bound(m_values.begin(), m_values.end(), scaled);
    if (above == m_values.begin())
        return 0;
    if (above == m_values.end())
        return 255;
    const auto below = std::prev(above);
    const double down = static_cast<double>(scaled) - static_cast<double>(*below);
    const double up = static_cast<double>(*above) - static_cast<double>(scaled);
    return static_cast<std::uint8_t>((down <= up ? below : above) - m_values.begin());
}

std::uint8_t DynamicMap::binned(float scaled) const
{
    const float bin = (scaled + 1.0F) * kBinsPerUnit + 0.5F;
    return m_bins[static_cast<std::size_t>(std::clamp(bin, 0.0F, static_cast<float>(kBins - 1)))];
}

float DynamicMap::encode(std::span<const float> block, std::span<std::uint8_t> codes) const
{
    float largest = 0.0F;
    for (const float value : block)
        largest = std::max(largest, std::abs(value));
    encodeWith(largest, block, codes);
    return largest;
}

void DynamicMap::encodeWith(float largest, std::span<const float> block, std::span<std::uint8_t> codes) const
{
    if (largest == 0.0F) {
        std::fill(codes.begin(), codes.end(),
                  m_quantizer == Quantizer::Bins ? std::uint8_t{0} : nearest(0.0F));
        return;
    }
    const float inverse = 1.0F / largest;
    for (std::size_t i = 0; i < block.size(); ++i)
        codes[i] = m_quantizer == Quantizer::Bins ? binned(block[i] * inverse) : nearest(block[i] / largest);
}

void DynamicMap::decode(std::span<const std::uint8_t> codes, float largest, std::span<float> block) const
{
    for (std::size_t i = 0; i < codes.size(); ++i)
        block[i] = m_values[codes[i]] * largest;
}

} // namespace mantissa
