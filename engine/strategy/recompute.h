#pragma once

#include "engine/model/model.h"

namespace mantissa {

/// Activation checkpointing: a block's forward pass keeps nothing but its input, and runs again in backward
/// with the same random numbers and the same autocast, so that gradients and losses have the same bits.
class Recompute final : public WeightAccess {
public:
    /// Both outlive it, and every graph that went through it.
    Recompute(WeightAccess& weights, Model& model);

    std::vector<at::Tensor> enter(int unit) override { return m_weights.enter(unit); }
    at::Tensor leave(int unit, const at::Tensor& output) override { return m_weights.leave(unit, output); }
    at::Tensor run(int unit, const at::Tensor& input, const UnitBody& body) override;

private:
    WeightAccess& m_weights;
    Model& m_model;
    at::Tensor
        m_anchor; ///< Wants a gradient, so that a block has a backward even where its input wants none.
};

} // namespace mantissa
