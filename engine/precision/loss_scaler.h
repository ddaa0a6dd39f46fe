#pragma once

#include "engine/comm/communicator.h"
#include "engine/numerics/loss_scale.h"
#include "engine/optim/optimizer.h"
#include "engine/recipe/run_plan.h"
#include "engine/tensor/torch.h"

#include <optional>
#include <vector>

namespace mantissa {

/// A dynamic loss scale over real gradients. Optimizers are numbered, as in ScalerState, which holds the
/// rules.
class LossScaler {
public:
    explicit LossScaler(const ScalerPlan& plan);
    virtual ~LossScaler() = default;

    at::Tensor
    scale(const at::Tensor& loss); ///< At least fp32, so that a loss in fp16 does not overflow right here.
    std::vector<at::Tensor> scale(const std::vector<at::Tensor>& losses);

    /// Multiplies the gradients by 1/scale and notes whether any was not finite. fp16 gradients only where
    /// `allowHalf`.
    void unscale(std::size_t optimizer, const std::vector<at::Tensor>& gradients, bool allowHalf);

    /// Makes the optimizer's step, or skips it. A self-unscaling optimizer whose gradients are still scaled
    /// gets the scale; it always gets what was found. True: skipped.
    bool step(std::size_t number, Optimizer& optimizer);

    void update() { m_state.update(); }
    void
    update(const at::Tensor& newScale); ///< Sets the scale: one floating-point number on the CPU, no leaf.

    ScalerState& state() { return m_state; }
    const ScalerState& state() const { return m_state; }
    bool foundHere(std::size_t optimizer) const; ///< By this rank alone, before the ranks agreed.

protected:
    /// What this rank found → what all of them act on.
    virtual float agree(float foundHere) { return foundHere; }
    virtual bool hasPeers() const { return false; }

private:
    std::optional<bool> check(std::size_t optimizer, const std::vector<at::Tensor>& gradients, float inverse);

    ScalerState m_state;
    std::vector<bool> m_foundHere;
};

/// The same for ranks that hold different gradients: what one of them found counts for all, in both routes,
/// as a maximum. A sum would reach 2 where two ranks overflow, and the fused kernels skip on exactly 1.
class ShardedLossScaler final : public LossScaler {
public:
    ShardedLossScaler(const ScalerPlan& plan, Communicator& communicator)
        : LossScaler(plan), m_communicator(communicator)
    {
    }

protected:
    float agree(float foundHere) override;
    bool hasPeers() const override { return true; }

private:
    Communicator& m_communicator;
};

} // namespace mantissa
