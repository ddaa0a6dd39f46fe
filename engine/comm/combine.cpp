#include "engine/comm/combine.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace mantissa {
namespace {

using Parts = std::vector<const void*>;

constexpr std::size_t kBlock = 2048; // stays in the first-level cache

float fromBits(std::uint32_t bits)
{
    float value = 0.0F;
    std::memcpy(&value, &bits, sizeof value);
    return value;
}

std::uint32_t toBits(float value)
{
    std::uint32_t bits = 0;
    std::memcpy(&bits, &value, sizeof bits);
    return bits;
}

float bf16ToFloat(std::uint16_t half)
{
    return fromBits(static_cast<std::uint32_t>(half) << 16U);
}

std::uint16_t floatToBf16(float value)
{
    const std::uint32_t bits = toBits(value);
    const std::uint32_t rounded = (bits + 0x7fffU + ((bits >> 16U) & 1U)) >> 16U;
    return static_cast<std::uint16_t>((bits & 0x7fffffffU) > 0x7f800000U ? 0x7fc0U : rounded);
}

float fp16ToFloat(std::uint16_t half)
{
    const std::uint32_t sign = static_cast<std::uint32_t>(half & 0x8000U) << 16U;
    const std::uint32_t exponent = (half >> 10U) & 0x1fU;
    const std::uint32_t fraction = half & 0x3ffU;
    if (exponent == 0x1fU)
        return fromBits(sign | 0x7f800000U | (fraction << 13U));
    if (exponent == 0) // subnormal: fraction × 2^-24, exact in fp32
        return fromBits(sign | toBits(static_cast<float>(fraction) * 0x1p-24F));
    return fromBits(sign | ((exponent + 112U) << 23U) | (fraction << 13U));
}

std::uint16_t floatToFp16(float value)
{
    const std::uint32_t bits = toBits(value);
    const std::uint32_t sign = (bits >> 16U) & 0x8000U;
    const std::uint32_t magnitude = bits & 0x7fffffffU;
    if (magnitude > 0x7f800000U)
        return static_cast<std::uint16_t>(sign | 0x7e00U);
    if (magnitude >= 0x477ff000U) // 65520 and more round past the largest value
        return static_cast<std::uint16_t>(sign | 0x7c00U);
    if (magnitude < 0x38800000U) { // below 2^-14: adding 0.5 puts the units of 2^-24 at the end of the
                                   // fraction, rounded to even
        const std::uint32_t units = toBits(fromBits(magnitude) + 0.5F) - toBits(0.5F);
        return static_cast<std::uint16_t>(sign | units);
    }
    const std::uint32_t rounded = magnitude + 0xfffU + ((magnitude >> 13U) & 1U);
    return static_cast<std::uint16_t>(sign | ((rounded - 0x38000000U) >> 13U));
}

// Conversions come as lambdas: function pointers would keep the loops from being vectorised.
template <typename Element, typename Sum, typename Load, typename Store>
void combineBlocks(ReduceOp op, const Parts& parts, std::size_t first, std::size_t count, void* out,
                   Load load, Store store)
{
    std::array<Sum, kBlock> sum;
    for (std::size_t done = 0; done < count; done += kBlock) {
        const std::size_t length = std::min(kBlock, count - done);
        const auto* own = static_cast<const Element*>(parts[0]) + first + done;
        for (std::size_t i = 0; i < length; ++i)
            sum[i] = load(own[i]);
        for (std::size_t part = 1; part < parts.size(); ++part) {
            const auto* from = static_cast<const Element*>(parts[part]) + first + done;
            if (op == ReduceOp::Sum) {
                for (std::size_t i = 0; i < length; ++i)
                    sum[i] = static_cast<Sum>(sum[i] + load(from[i]));
            } else {
                for (std::size_t i = 0; i < length; ++i) {
                    const Sum value = load(from[i]);
                    sum[i] =
                        (value > sum[i] || value != value) ? value : sum[i]; // a NaN is unequal to itself
                }
            }
        }
        auto* to = static_cast<Element*>(out) + done;
        for (std::size_t i = 0; i < length; ++i)
            to[i] = store(sum[i]);
    }
}

template <typename Element>
void combinePlain(ReduceOp op, const Parts& parts, std::size_t first, std::size_t count, void* out)
{
    const auto same = [](Element value) { return value; };
    combineBlocks<Element, Element>(op, parts, first, count, out, same, same);
}

#if defined(__x86_64__)
// g++ 12 does not vectorise conversions from and to fp16: 0.5 GB/s by plain loops, 10 GB/s by these
// instructions.
__attribute__((target("avx2,f16c"))) std::size_t
combineHalfBy8(ReduceOp op, const Parts& parts, std::size_t first, std::size_t count, std::uint16_t* out)
{
    const auto load = [&](std::size_t part, std::size_t i) __attribute__((target("avx2,f16c")))
    {
        const auto* from = static_cast<const std::uint16_t*>(parts[part]) + first + i;
        return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
    };
    std::size_t i = 0;
    for (; i + 8 <= count; i += 8) {
        __m256 sum = load(0, i);
        for (std::size_t part = 1; part < parts.size(); ++part) {
            const __m256 value = load(part, i);
            sum = op == ReduceOp::Sum ? _mm256_add_ps(sum, value)
                                      : _mm256_blendv_ps(_mm256_max_ps(sum, value), _mm256_add_ps(sum, value),
                                                         _mm256_cmp_ps(sum, value, _CMP_UNORD_Q));
        }
        _mm_storeu_si128(reinterpret_cast<__m128i*>(out + i),
                         _mm256_cvtps_ph(sum, _MM_FROUND_TO_NEAREST_INT));
    }
    return i;
}

bool convertsHalf()
{
    return __builtin_cpu_supports("f16c") && __builtin_cpu_supports("avx2");
}
#else
std::size_t combineHalfBy8(ReduceOp, const Parts&, std::size_t, std::size_t, std::uint16_t*)
{
    return 0;
}

bool convertsHalf()
{
    return false;
}
#endif

} // namespace

void combineHalfPortably(ReduceOp op, const Parts& parts, std::size_t first, std::size_t count, void* out)
{
    combineBlocks<std::uint16_t, float>(
        op, parts, first, count, out, [](std::uint16_t half) { return fp16ToFloat(half); },
        [](float value) { return floatToFp16(value); });
}

void combine(WireType type, ReduceOp op, const Parts& parts, std::size_t first, std::size_t count, void* out)
{
    switch (type) {
    case WireType::F32:
        return combinePlain<float>(op, parts, first, count, out);
    case WireType::F64:
        return combinePlain<double>(op, parts, first, count, out);
    case WireType::I64:
        return combinePlain<std::int64_t>(op, parts, first, count, out);
    case WireType::U8:
        return combinePlain<std::uint8_t>(op, parts, first, count, out);
    case WireType::BF16:
        return combineBlocks<std::uint16_t, float>(
            op, parts, first, count, out, [](std::uint16_t half) { return bf16ToFloat(half); },
            [](float value) { return floatToBf16(value); });
    case WireType::F16: {
        auto* to = static_cast<std::uint16_t*>(out);
        const std::size_t done = convertsHalf() ? combineHalfBy8(op, parts, first, count, to) : 0;
        return combineHalfPortably(op, parts, first + done, count - done, to + done);
    }
    }
}

} // namespace mantissa
