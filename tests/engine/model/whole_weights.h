#pragma once

#include "engine/model/model.h"

namespace mantissa {

/// Weights as one rank without a strategy has them.
class WholeWeights final : public WeightAccess {
public:
    WholeWeights(const Model& model, const std::vector<at::Tensor>& weights, bool train = false)
        : m_ofUnit(static_cast<std::size_t>(model.unitCount()))
    {
        for (std::size_t i = 0; i < weights.size(); ++i) {
            auto& unit = m_ofUnit[static_cast<std::size_t>(model.parameters()[i].unit)];
            unit.push_back(train ? weights[i].clone().set_requires_grad(true) : weights[i]);
            m_all.push_back(unit.back());
        }
    }
    std::vector<at::Tensor> enter(int unit) override { return m_ofUnit[static_cast<std::size_t>(unit)]; }
    at::Tensor leave(int, const at::Tensor& output) override { return output; }

    const std::vector<at::Tensor>& all() const { return m_all; }

private:
    std::vector<std::vector<at::Tensor>> m_ofUnit;
    std::vector<at::Tensor> m_all;
};

/// The logits of a model with its own first weights.
inline at::Tensor logitsOf(const ModelPlan& plan, const at::Tensor& input, bool training = false)
{
    const at::NoGradGuard noGrad;
    const auto model = makeModel(plan, 1, 0);
    WholeWeights weights(*model, initialWeights(plan, 1));
    return model->forward(input, weights, training);
}

} // namespace mantissa
