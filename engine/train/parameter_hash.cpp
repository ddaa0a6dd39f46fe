#include "engine/train/parameter_hash.h"

#include <cstdint>
#include <cstring>

namespace mantissa {
namespace {

constexpr std::uint64_t kMultiplier = 0x9E3779B97F4A7C15; // 2^64 / golden ratio, odd

std::uint64_t mixed(std::uint64_t state, std::uint64_t word)
{
    state = (state ^ word) * kMultiplier;
    return state ^ (state >> 32U);
}

std::uint64_t hashOf(std::uint64_t state, const std::uint8_t* bytes, std::size_t count)
{
    std::size_t at = 0;
    for (; at + sizeof(std::uint64_t) <= count; at += sizeof(std::uint64_t)) {
        std::uint64_t word = 0;
        std::memcpy(&word, bytes + at, sizeof word);
        state = mixed(state, word);
    }
    std::uint64_t rest = count;
    std::memcpy(&rest, bytes + at, count - at);
    return mixed(state, rest);
}

} // namespace

double parameterHash(const std::vector<at::Tensor>& tensors)
{
    std::uint64_t state = kMultiplier;
    for (const auto& tensor : tensors) {
        const at::Tensor plain = tensor.detach().contiguous();
        state = hashOf(state, static_cast<const std::uint8_t*>(plain.const_data_ptr()), plain.nbytes());
    }
    return static_cast<double>(mixed(state, kMultiplier) >> 12U);
}

} // namespace mantissa
