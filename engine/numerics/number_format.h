#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace mantissa {

/// A binary number format: a sign bit, an exponent, a fraction.
struct NumberFormat {
    std::string_view name; ///< "bf16"
    int exponentBits = 0;
    int fractionBits = 0;
    bool hasInfinity = true; ///< Without one the largest exponent holds numbers too, and NaN is all ones.

    int bias() const { return (1 << (exponentBits - 1)) - 1; }
    int bits() const { return 1 + exponentBits + fractionBits; }
    double largest() const;
    double leastNormal() const;
    double leastSubnormal() const;
    double epsilon() const; ///< The gap above 1.
};

inline constexpr NumberFormat kFp32{"fp32", 8, 23};
inline constexpr NumberFormat kTf32{"tf32", 8, 10};
inline constexpr NumberFormat kBf16{"bf16", 8, 7};
inline constexpr NumberFormat kFp16{"fp16", 5, 10};
inline constexpr NumberFormat kE5m2{"e5m2", 5, 2};
inline constexpr NumberFormat kE4m3{"e4m3", 4, 3, false};

/// All of them, from the finest to the coarsest.
std::span<const NumberFormat> numberFormats();

enum class Rounding {
    NearestEven, ///< IEEE 754's default, and that of every cast here.
    NearestAway, ///< What tensor cores do on the way to tf32.
};
enum class Overflow {
    ToInfinity, ///< To NaN in a format without one.
    Saturate, ///< To the largest number.
};

/// The bits of the number nearest to a value; a NaN stays one.
std::uint32_t encodeNumber(float value, const NumberFormat& format, Overflow overflow = Overflow::ToInfinity,
                           Rounding rounding = Rounding::NearestEven);
float decodeNumber(std::uint32_t code, const NumberFormat& format);

/// A value as the format would keep it.
inline float roundedTo(float value, const NumberFormat& format, Overflow overflow = Overflow::ToInfinity)
{
    return decodeNumber(encodeNumber(value, format, overflow), format);
}

} // namespace mantissa
