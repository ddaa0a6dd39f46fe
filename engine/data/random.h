#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>

namespace mantissa {

/// SplitMix64: small, fast, and the same numbers on every machine, which std's distributions do not promise.
class Random {
public:
    explicit Random(std::uint64_t seed) : m_state(seed) {}

    std::uint64_t next()
    {
        m_state += 0x9E3779B97F4A7C15ULL;
        std::uint64_t x = m_state;
        x = (x ^ (x >> 30U)) * 0xBF58476D1CE4E5B9ULL;
        x = (x ^ (x >> 27U)) * 0x94D049BB133111EBULL;
        return x ^ (x >> 31U);
    }
    /// 0 … bound-1; the bias of the remainder is far below anything that shows here.
    std::int64_t below(std::int64_t bound)
    {
        return static_cast<std::int64_t>(next() % static_cast<std::uint64_t>(bound));
    }
    double uniform() { return static_cast<double>(next() >> 11U) * 0x1.0p-53; }
    double normal()
    {
        const double radius = std::sqrt(-2.0 * std::log(1.0 - uniform()));
        return radius * std::cos(2.0 * std::numbers::pi * uniform());
    }

private:
    std::uint64_t m_state;
};

} // namespace mantissa
