#pragma once

#include "engine/checkpoint/safetensors.h"
#include "engine/comm/communicator.h"
#include "engine/model/model.h"
#include "engine/numerics/delayed_scale.h"
#include "engine/tensor/torch.h"

#include <array>
#include <map>
#include <string>

namespace mantissa {

/// The tensors of a linear layer that are rounded to fp8.
enum class Fp8Role { Input, Weight, Gradient };
inline constexpr std::array kFp8Roles = {Fp8Role::Input, Fp8Role::Weight, Fp8Role::Gradient};

/// What rounding took away in one step, over all layers and ranks.
struct Fp8Losses {
    struct Shares {
        double saturated = 0.0; ///< Of all elements: beyond the largest number, and cut to it.
        double flushed = 0.0; ///< … not zero before, and zero afterwards.
    };
    std::array<Shares, kFp8Roles.size()> of; ///< In the order of Fp8Role.
    std::string mostCut; ///< The layer with most gradient elements that were cut; empty: none was.
    double cut = 0.0; ///< How many of its.
};

/// Emulates linear layers in fp8: inputs and weights are rounded to e4m3, the gradient that comes back to
/// e5m2 before both of its products, each tensor with a delayed scale of its own. Products are made in fp32
/// of the rounded values, as hardware adds them up; what leaves a layer has the precision of its
/// surroundings. Rounding itself has the gradient 1. What is beyond a format's range is cut to its largest
/// number, Inf too; NaN stays.
class Fp8Linears final : public LinearMath {
public:
    Fp8Linears(const DelayedScaleRule& rule, Communicator& communicator);
    ~Fp8Linears() override;

    /// Values are seen, and losses counted, where a gradient will be wanted: not in validation, and with
    /// activation checkpointing once, in the second run.
    at::Tensor apply(const std::string& layer, const at::Tensor& input, const at::Tensor& weight,
                     const at::Tensor& bias) override;

    /// After the step: ranks agree on the largest values, scales follow. A collective.
    Fp8Losses closeStep();

    /// Scales and histories, the same on every rank: what a checkpoint holds.
    NamedTensors state() const;
    void restore(const NamedTensors& state);

    struct Layer;

private:
    Layer& layer(const std::string& name);

    DelayedScaleRule m_rule;
    Communicator& m_communicator;
    std::map<std::string, Layer> m_layers;
};

} // namespace mantissa
