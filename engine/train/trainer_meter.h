#pragma once

#include "engine/tensor/torch.h"

#include <cstdint>
#include <vector>

namespace mantissa {

/// What a step did to the parameters of one rank.
struct UpdateTally {
    double parameterSquares = 0.0;
    double changeSquares = 0.0;
    std::int64_t changed = 0; ///< Elements with other bits than before.
    std::int64_t driven = 0; ///< Elements whose gradient is not zero.
    std::int64_t stalled = 0; ///< … and that kept their bits all the same.
};

/// Remembers the parameters from one step to the next and compares, in one pass over memory.
class UpdateMeter {
public:
    explicit UpdateMeter(const std::vector<at::Tensor>& parameters);

    UpdateTally measure(const std::vector<at::Tensor>& parameters);

private:
    std::vector<at::Tensor> m_before;
};

} // namespace mantissa
