#pragma once

#include "engine/numerics/number_format.h"

#include <cstdint>
#include <vector>

namespace mantissa {

/// What a delayed scale goes by, as Transformer Engine's DelayedScaling has it.
struct DelayedScaleRule {
    std::int64_t historyLength = 1024; ///< Steps whose largest value counts.
    std::int64_t margin = 0; ///< Powers of two that are kept free below the format's largest number.
};

/// The factor that brings one tensor into the range of a small format: the format's largest number over the
/// tensor's largest value, as seen in earlier steps. A step is rounded with what it found, and what it saw
/// counts from the next one on. Begins at 1.
class DelayedScale {
public:
    DelayedScale(const NumberFormat& format, const DelayedScaleRule& rule);

    float now() const { return m_scale; }

    void see(float largest); ///< The largest value, without sign, of a tensor of this step.
    /// The largest one of the step so far, below 0 where nothing was seen. Ranks agree on the maximum.
    float seen() const { return m_seen; }
    /// Ends the step. One whose largest value is Inf or NaN says nothing about the range and is left out.
    void close(float seen);

    const std::vector<float>& history() const { return m_history; } ///< Oldest first.
    /// Goes on from another's; of a longer history the newest part.
    void restore(float scale, std::vector<float> history);

private:
    float m_largest; ///< Of the format, less the margin.
    std::size_t m_length;
    float m_scale = 1.0F;
    float m_seen = -1.0F;
    std::vector<float> m_history;
};

} // namespace mantissa
