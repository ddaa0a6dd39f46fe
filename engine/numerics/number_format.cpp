#include "engine/numerics/number_format.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace mantissa {
namespace {

constexpr std::array kFormats = {kFp32, kTf32, kBf16, kFp16, kE5m2, kE4m3};

std::uint32_t signBit(const NumberFormat& format)
{
    return 1U << (format.bits() - 1);
}

std::uint32_t infinityCode(const NumberFormat& format)
{
    return ((1U << format.exponentBits) - 1U) << format.fractionBits;
}

std::uint32_t nanCode(const NumberFormat& format)
{
    const std::uint32_t fraction = (1U << format.fractionBits) - 1U;
    return format.hasInfinity ? infinityCode(format) | (1U << (format.fractionBits - 1))
                              : infinityCode(format) | fraction;
}

/// The code of the largest finite number.
std::uint32_t largestCode(const NumberFormat& format)
{
    return format.hasInfinity ? infinityCode(format) - 1U : nanCode(format) - 1U;
}

} // namespace

std::span<const NumberFormat> numberFormats()
{
    return kFormats;
}

double NumberFormat::largest() const
{
    return static_cast<double>(decodeNumber(largestCode(*this), *this));
}

double NumberFormat::leastNormal() const
{
    return std::ldexp(1.0, 1 - bias());
}

double NumberFormat::leastSubnormal() const
{
    return std::ldexp(1.0, 1 - bias() - fractionBits);
}

double NumberFormat::epsilon() const
{
    return std::ldexp(1.0, -fractionBits);
}

std::uint32_t encodeNumber(float value, const NumberFormat& format, Overflow overflow, Rounding rounding)
{
    const std::uint32_t sign = std::signbit(value) ? signBit(format) : 0U;
    if (std::isnan(value))
        return sign | nanCode(format);
    const std::uint32_t beyond = overflow == Overflow::Saturate ? largestCode(format)
        : format.hasInfinity                                    ? infinityCode(format)
                                                                : nanCode(format);
    if (std::isinf(value))
        return sign | beyond;
    const double size = std::abs(static_cast<double>(value));
    // Below the least normal number the gaps stay as they are there: subnormal numbers.
    const int exponent = size > 0.0 ? std::max(std::ilogb(size), 1 - format.bias()) : 1 - format.bias();
    const double gaps = std::ldexp(size, format.fractionBits - exponent); // Exact: doubles have room.
    const double whole = rounding == Rounding::NearestEven ? std::nearbyint(gaps) : std::round(gaps);
    // One gap more carries into the exponent by itself, and a subnormal number has none.
    const auto code = (static_cast<std::uint32_t>(exponent + format.bias() - 1) << format.fractionBits)
        + static_cast<std::uint32_t>(whole);
    return sign | (code > largestCode(format) ? beyond : code);
}

float decodeNumber(std::uint32_t code, const NumberFormat& format)
{
    const std::uint32_t size = code & (signBit(format) - 1U);
    const float sign = (code & signBit(format)) != 0U ? -1.0F : 1.0F;
    if (size > largestCode(format)) {
        const bool infinite = format.hasInfinity && size == infinityCode(format);
        return sign
            * (infinite ? std::numeric_limits<float>::infinity() : std::numeric_limits<float>::quiet_NaN());
    }
    const std::uint32_t fraction = size & ((1U << format.fractionBits) - 1U);
    const auto exponent = static_cast<int>(size >> format.fractionBits);
    const std::uint32_t gaps = exponent > 0 ? fraction + (1U << format.fractionBits) : fraction;
    const int lowest = std::max(exponent, 1) - format.bias() - format.fractionBits;
    return sign * std::ldexp(static_cast<float>(gaps), lowest);
}

} // namespace mantissa
