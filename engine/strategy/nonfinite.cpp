#include "engine/strategy/nonfinite.h"

#include <bit>

namespace mantissa {
namespace {

// Inf and NaN are the numbers whose exponent bits are all set.
template <typename Bits>
std::int64_t countSetExponents(const at::Tensor& tensor, Bits exponent)
{
    const auto* bits = static_cast<const Bits*>(tensor.const_data_ptr());
    const std::int64_t elements = tensor.numel();
    constexpr std::int64_t kBlock =
        4096; // a block's count fits 16 bits, so that its loop is vectorised in the element's width
    std::int64_t count = 0;
    for (std::int64_t first = 0; first < elements; first += kBlock) {
        const std::int64_t end = std::min(elements, first + kBlock);
        Bits found = 0;
        for (std::int64_t i = first; i < end; ++i)
            found = static_cast<Bits>(found + ((bits[i] & exponent) == exponent ? 1 : 0));
        count += static_cast<std::int64_t>(found);
    }
    return count;
}

} // namespace

std::int64_t countNonfinite(const at::Tensor& tensor)
{
    if (!tensor.defined() || tensor.numel() == 0)
        return 0;
    // Any order of elements will do, as long as each is there once.
    const at::Tensor dense = tensor.is_non_overlapping_and_dense() ? tensor : tensor.contiguous();
    switch (dense.scalar_type()) {
    case at::kFloat:
        return countSetExponents<std::uint32_t>(dense, 0x7f800000U);
    case at::kDouble:
        return countSetExponents<std::uint64_t>(dense, 0x7ff0000000000000U);
    case at::kBFloat16:
        return countSetExponents<std::uint16_t>(dense, 0x7f80U);
    case at::kHalf:
        return countSetExponents<std::uint16_t>(dense, 0x7c00U);
    default:
        return 0;
    }
}

} // namespace mantissa
