#pragma once

#include "engine/tensor/torch.h"

#include <cstdint>
#include <vector>

namespace mantissa {

/// What a step did to the parameters of one rank. The sums are those of all elements, estimated from the
/// measured ones where there are too many to look at each.
struct UpdateTally {
    double parameterSquares = 0.0;
    double changeSquares = 0.0;
    double changed = 0.0; ///< Elements with another value than before.
    double driven = 0.0; ///< Elements whose gradient is not zero.
    double stalled = 0.0; ///< … and that kept their value all the same.
};

/// Remembers parameters from one step to the next and compares. Up to kMeasuredElements of a rank are all
/// measured; beyond that as many, in short blocks spread evenly over all of them: looking at every weight
/// would cost a tenth of the step of a wide layer and a second copy of the model.
class UpdateMeter {
public:
    static constexpr std::int64_t kMeasuredElements = 16384;

    explicit UpdateMeter(const std::vector<at::Tensor>& parameters);

    UpdateTally measure(const std::vector<at::Tensor>& parameters);

private:
    struct Block {
        std::size_t parameter = 0;
        std::int64_t first = 0;
        std::int64_t count = 0;
    };
    void choose(const std::vector<at::Tensor>& parameters);

    std::vector<Block> m_blocks; ///< In the order of the parameters.
    std::vector<double> m_before; ///< Of the blocks, one after the other.
    double m_share = 1.0; ///< Elements of the rank for each measured one.
};

} // namespace mantissa
