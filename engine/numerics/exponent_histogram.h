#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace mantissa {

/// How many numbers have which exponent: bin e counts those with 2^e ≤ |x| < 2^(e+1). A plain value.
struct ExponentHistogram {
    static constexpr int kLowest = -64;
    static constexpr int kHighest = 63;
    static constexpr std::size_t kBins = kHighest - kLowest + 1;

    std::array<std::uint64_t, kBins> counts{};
    std::uint64_t below = 0; ///< Smaller than 2^kLowest, and not zero.
    std::uint64_t above = 0; ///< 2^(kHighest+1) or more, and finite.
    std::uint64_t zeros = 0;
    std::uint64_t nonfinite = 0;

    void add(const float* numbers, std::size_t count);
    std::uint64_t total() const;

    bool operator==(const ExponentHistogram&) const = default;
};

/// A histogram of a tensor, as it is recorded.
struct TensorHistogram {
    std::int64_t step = 0;
    std::string tensor; ///< Name of the parameter.
    std::string quantity; ///< "weight", "gradient", "update"
    ExponentHistogram exponents;
    bool operator==(const TensorHistogram&) const = default;
};

} // namespace mantissa
