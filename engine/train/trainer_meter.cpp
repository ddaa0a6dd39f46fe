#include "engine/train/trainer_meter.h"

#include <algorithm>
#include <array>

namespace mantissa {
namespace {

constexpr std::int64_t kBlock = 16; // A cache line of floats: reading one of them costs as much as all.
constexpr std::int64_t kLanes = 16; // Independent sums, so that the compiler may use vector registers.

struct Lanes {
    std::array<double, kLanes> squares{};
    std::array<double, kLanes> changes{};
    std::array<std::int64_t, kLanes> changed{};
    std::array<std::int64_t, kLanes> driven{};
    std::array<std::int64_t, kLanes> stalled{};

    void add(std::size_t lane, double now, double before, double gradient)
    {
        const double change = now - before;
        const std::int64_t moved = now != before ? 1 : 0;
        const std::int64_t pushed = gradient != 0.0 ? 1 : 0;
        squares[lane] += now * now;
        changes[lane] += change * change;
        changed[lane] += moved;
        driven[lane] += pushed;
        stalled[lane] += pushed & (1 - moved);
    }

    UpdateTally total(double share) const
    {
        UpdateTally tally;
        for (std::size_t lane = 0; lane < kLanes; ++lane) {
            tally.parameterSquares += squares[lane] * share;
            tally.changeSquares += changes[lane] * share;
            tally.changed += static_cast<double>(changed[lane]) * share;
            tally.driven += static_cast<double>(driven[lane]) * share;
            tally.stalled += static_cast<double>(stalled[lane]) * share;
        }
        return tally;
    }
};

template <typename Scalar>
void compare(const Scalar* now, const Scalar* gradient, std::int64_t count, double* before, Lanes& lanes)
{
    for (std::int64_t i = 0; i < count; ++i) {
        const auto value = static_cast<double>(now[i]);
        const double pull = gradient ? static_cast<double>(gradient[i]) : 0.0;
        lanes.add(static_cast<std::size_t>(i % kLanes), value, before[i], pull);
        before[i] = value;
    }
}

/// Values a little apart from even spacing, so that blocks do not fall on the same columns of every row.
std::int64_t jitter(std::int64_t block, std::int64_t room)
{
    constexpr std::uint64_t kGolden = 0x9E3779B97F4A7C15;
    const std::uint64_t mixed = (static_cast<std::uint64_t>(block) + 1) * kGolden;
    return room > 0 ? static_cast<std::int64_t>((mixed >> 16) % static_cast<std::uint64_t>(room)) : 0;
}

} // namespace

UpdateMeter::UpdateMeter(const std::vector<at::Tensor>& parameters)
{
    choose(parameters);
    std::int64_t elements = 0;
    for (const auto& block : m_blocks)
        elements += block.count;
    m_before.resize(static_cast<std::size_t>(elements));
    measure(parameters);
}

void UpdateMeter::choose(const std::vector<at::Tensor>& parameters)
{
    std::int64_t total = 0;
    for (const auto& parameter : parameters)
        total += parameter.numel();
    const std::int64_t stride =
        total <= kMeasuredElements ? kBlock : total * kBlock / kMeasuredElements; // From block to block.
    std::int64_t measured = 0;
    for (std::size_t i = 0; i < parameters.size(); ++i) {
        const std::int64_t size = parameters[i].numel();
        for (std::int64_t at = 0, block = 0; at < size; at += stride, ++block) {
            const std::int64_t span = std::min(stride, size - at);
            const std::int64_t count = std::min(kBlock, span);
            m_blocks.push_back({i, at + jitter(block, span - count), count});
            measured += count;
        }
    }
    m_share = measured > 0 ? static_cast<double>(total) / static_cast<double>(measured) : 1.0;
}

UpdateTally UpdateMeter::measure(const std::vector<at::Tensor>& parameters)
{
    const at::NoGradGuard noGrad;
    Lanes lanes;
    double* before = m_before.data();
    for (auto block = m_blocks.begin(); block != m_blocks.end();) {
        const std::size_t index = block->parameter;
        const at::Tensor now = parameters[index].detach().contiguous();
        const at::Tensor grad = parameters[index].grad();
        const at::Tensor gradient = grad.defined() ? grad.to(now.scalar_type()).contiguous() : grad;
        AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, now.scalar_type(), "measure", [&] {
            const auto* values = now.const_data_ptr<scalar_t>();
            const auto* pulls = gradient.defined() ? gradient.const_data_ptr<scalar_t>() : nullptr;
            for (; block != m_blocks.end() && block->parameter == index; before += block->count, ++block)
                compare(values + block->first, pulls ? pulls + block->first : nullptr, block->count, before,
                        lanes);
        });
    }
    return lanes.total(m_share);
}

} // namespace mantissa
