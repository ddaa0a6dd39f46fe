#include "engine/numerics/exponent_histogram.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>

namespace mantissa {

namespace {

constexpr std::size_t kBlock = 8192;
constexpr std::size_t kTables =
    8; // Neighbours have like exponents: in one table each would wait for the last.
constexpr int kBias = 127;
constexpr std::size_t kExponents = 256;

using Tables = std::array<std::array<std::uint32_t, kExponents>, kTables>;

/// The exponents' bytes of a block; in a loop of its own, which uses vector registers. Gives the zeros.
std::uint32_t cutExponents(const float* numbers, std::size_t count, std::uint8_t* exponents)
{
    std::uint32_t zeros = 0;
    for (std::size_t i = 0; i < count; ++i) {
        const auto bits = std::bit_cast<std::uint32_t>(numbers[i]);
        exponents[i] = static_cast<std::uint8_t>(bits >> 23U);
        zeros += (bits << 1U) == 0 ? 1U : 0U;
    }
    return zeros;
}

void countBytes(const std::uint8_t* bytes, std::size_t count, Tables& tables)
{
    std::size_t i = 0;
    for (; i + kTables <= count; i += kTables) {
        std::uint64_t eight = 0;
        std::memcpy(&eight, bytes + i, sizeof eight);
        for (auto& table : tables) {
            ++table[eight & 0xFFU];
            eight >>= 8U;
        }
    }
    for (; i < count; ++i)
        ++tables[0][bytes[i]];
}

} // namespace

void ExponentHistogram::add(const float* numbers, std::size_t count)
{
    Tables tables{};
    std::array<std::uint8_t, kBlock> exponents;
    std::uint64_t nothing = 0;
    for (std::size_t first = 0; first < count; first += kBlock) {
        const std::size_t part = std::min(kBlock, count - first);
        nothing += cutExponents(numbers + first, part, exponents.data());
        countBytes(exponents.data(), part, tables);
    }
    zeros += nothing;
    for (std::size_t byte = 0; byte < kExponents; ++byte) {
        std::uint64_t found = 0;
        for (const auto& table : tables)
            found += table[byte];
        const int exponent = static_cast<int>(byte) - kBias;
        if (byte == 0)
            below += found - nothing; // fp32's subnormals
        else if (byte == kExponents - 1)
            nonfinite += found;
        else if (exponent < kLowest)
            below += found;
        else if (exponent > kHighest)
            above += found;
        else
            counts[static_cast<std::size_t>(exponent - kLowest)] += found;
    }
}

std::uint64_t ExponentHistogram::total() const
{
    return std::accumulate(counts.begin(), counts.end(), below + above + zeros + nonfinite);
}

} // namespace mantissa
