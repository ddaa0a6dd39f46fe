#pragma once

#include "engine/callbacks/callback.h"

namespace mantissa {

/// An average of the weights of one rank, in the shapes of Strategy::parameters(): whole or in pieces, it is
/// taken element by element. Kept in fp32 where weights have 16 bits, since small changes would be lost.
class WeightAverage {
public:
    bool isEmpty() const { return m_weights.empty(); }

    /// Moves the average by `share` of the way to the present weights; the first time all of it.
    void update(TrainingView& view, double share, bool buffers);

    void swapIn(TrainingView& view); ///< Until swapOut() the model has the average.
    void swapOut(TrainingView& view);
    void moveIn(TrainingView& view); ///< For good.

    /// `json` with the average beside it.
    CallbackState stateWith(std::string json) const;
    void load(const CallbackState& state);

private:
    void put(TrainingView& view);

    std::vector<at::Tensor> m_weights;
    std::vector<at::Tensor> m_buffers; ///< Empty where buffers are left alone.
    std::vector<at::Tensor> m_weightsBefore;
    std::vector<at::Tensor> m_buffersBefore;
};

} // namespace mantissa
