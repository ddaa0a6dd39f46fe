#pragma once

#include "engine/tensor/torch.h"

#include <cmath>
#include <cstdint>

namespace mantissa {

/// Rotary positions: each pair of numbers of a head, one from either half, is turned by an angle that grows
/// with the place (RoFormer's, in the order of GPT-NeoX).
class Rotary {
public:
    Rotary(std::int64_t context, std::int64_t perHead)
    {
        constexpr double kBase = 10000.0;
        const at::Tensor rate = at::exp(at::arange(0, perHead, 2, at::kDouble)
                                        * (-std::log(kBase) / static_cast<double>(perHead)));
        const at::Tensor angle = at::outer(at::arange(context, at::kDouble), rate);
        m_cos = angle.cos().to(at::kFloat);
        m_sin = angle.sin().to(at::kFloat);
    }

    /// `x` is (batch, heads, length, numbers of a head).
    at::Tensor turn(const at::Tensor& x) const
    {
        const at::Tensor cos = m_cos.narrow(0, 0, x.size(2)).to(x.scalar_type());
        const at::Tensor sin = m_sin.narrow(0, 0, x.size(2)).to(x.scalar_type());
        const auto halves = x.chunk(2, -1);
        return at::cat({halves[0] * cos - halves[1] * sin, halves[1] * cos + halves[0] * sin}, -1);
    }

private:
    at::Tensor m_cos;
    at::Tensor m_sin;
};

} // namespace mantissa
