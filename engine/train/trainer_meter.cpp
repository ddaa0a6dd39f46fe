#include "engine/train/trainer_meter.h"

#include <array>
#include <cmath>

namespace mantissa {
namespace {

constexpr std::int64_t kLanes = 16; // Independent sums, so that the compiler may use vector registers.
constexpr std::int64_t kBlock = 4096; // Summed in float, then added up in double.

struct Lanes {
    std::array<float, kLanes> squares{};
    std::array<float, kLanes> changes{};
    std::array<std::int32_t, kLanes> changed{};
    std::array<std::int32_t, kLanes> driven{};
    std::array<std::int32_t, kLanes> stalled{};

    void add(std::size_t lane, float now, float before, float gradient)
    {
        const float change = now - before;
        const std::int32_t moved = now != before ? 1 : 0;
        const std::int32_t pushed = gradient != 0.0F ? 1 : 0;
        squares[lane] += now * now;
        changes[lane] += change * change;
        changed[lane] += moved;
        driven[lane] += pushed;
        stalled[lane] += pushed & (1 - moved);
    }

    void pour(UpdateTally& tally) const
    {
        for (std::size_t lane = 0; lane < kLanes; ++lane) {
            tally.parameterSquares += static_cast<double>(squares[lane]);
            tally.changeSquares += static_cast<double>(changes[lane]);
            tally.changed += changed[lane];
            tally.driven += driven[lane];
            tally.stalled += stalled[lane];
        }
    }
};

void measureFloats(const float* now, float* before, const float* gradient, std::int64_t count,
                   UpdateTally& tally)
{
    for (std::int64_t first = 0; first < count; first += kBlock) {
        const std::int64_t end = std::min(count, first + kBlock);
        Lanes lanes;
        std::int64_t i = first;
        for (; i + kLanes <= end; i += kLanes) {
            for (std::int64_t lane = 0; lane < kLanes; ++lane)
                lanes.add(static_cast<std::size_t>(lane), now[i + lane], before[i + lane],
                          gradient[i + lane]);
        }
        for (; i < end; ++i)
            lanes.add(static_cast<std::size_t>(i % kLanes), now[i], before[i], gradient[i]);
        std::copy(now + first, now + end, before + first);
        lanes.pour(tally);
    }
}

at::Tensor plainFloats(const at::Tensor& tensor)
{
    return tensor.to(at::kFloat).contiguous();
}

} // namespace

UpdateMeter::UpdateMeter(const std::vector<at::Tensor>& parameters)
{
    for (const auto& parameter : parameters)
        m_before.push_back(parameter.detach().to(at::kFloat).clone(at::MemoryFormat::Contiguous));
}

UpdateTally UpdateMeter::measure(const std::vector<at::Tensor>& parameters)
{
    const at::NoGradGuard noGrad;
    UpdateTally tally;
    for (std::size_t i = 0; i < parameters.size(); ++i) {
        if (parameters[i].numel() == 0)
            continue;
        const at::Tensor now = plainFloats(parameters[i].detach());
        const at::Tensor gradient =
            parameters[i].grad().defined() ? plainFloats(parameters[i].grad()) : at::zeros_like(now);
        measureFloats(now.const_data_ptr<float>(), m_before[i].mutable_data_ptr<float>(),
                      gradient.const_data_ptr<float>(), now.numel(), tally);
    }
    return tally;
}

} // namespace mantissa
