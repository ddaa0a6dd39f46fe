#pragma once

#include "engine/recipe/memory_estimate.h"

#include <algorithm>
#include <cstdint>

namespace mantissa {

/// Bytes of one kind that are alive on one rank, and the most that ever were.
class ByteMeter {
public:
    void add(std::uint64_t bytes)
    {
        m_alive += bytes;
        m_peak = std::max(m_peak, m_alive);
    }
    void remove(std::uint64_t bytes) { m_alive -= bytes; }
    void forgetPeak() { m_peak = m_alive; }
    std::uint64_t alive() const { return m_alive; }
    std::uint64_t peak() const { return m_peak; }

private:
    std::uint64_t m_alive = 0;
    std::uint64_t m_peak = 0;
};

/// Counted where tensors come and go, not computed.
struct MemoryMeter {
    ByteMeter parameters; ///< Kept weights and gathered units together.
    ByteMeter kept;
    ByteMeter gathered;
    ByteMeter gradients;
    ByteMeter reduction;

    MemoryTerms terms() const
    {
        return {kept.peak(), gathered.peak(), gradients.peak(), reduction.peak(), 0};
    }
    void keep(std::uint64_t bytes)
    {
        kept.add(bytes);
        parameters.add(bytes);
    }
    void gather(std::uint64_t bytes)
    {
        gathered.add(bytes);
        parameters.add(bytes);
    }
    void giveBack(std::uint64_t bytes)
    {
        gathered.remove(bytes);
        parameters.remove(bytes);
    }
};

} // namespace mantissa
