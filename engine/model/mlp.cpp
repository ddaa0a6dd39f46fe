#include "engine/model/layers.h"

namespace mantissa {
namespace {

/// Linear layers with ReLU between them. Every layer is a unit; the last one is the root.
class Mlp final : public Model {
public:
    explicit Mlp(const MlpPlan& plan) : m_weights(weightsOf(plan)) {}

    const std::vector<ParameterSpec>& parameters() const override { return m_weights.specs(); }
    int unitCount() const override { return m_weights.unitCount(); }
    std::string unitName(int unit) const override { return m_weights.unitName(unit); }

    at::Tensor forward(const at::Tensor& input, WeightAccess& weights, bool) override
    {
        const int root = unitCount() - 1;
        at::Tensor x = input;
        for (int unit = 0; unit < root; ++unit)
            x = weights.run(unit, x, [this, unit](const at::Tensor& rows, const std::vector<at::Tensor>& w) {
                return at::relu(linear(unitName(unit), rows, w[0], w[1]));
            });
        const auto last = weights.enter(root);
        return weights.leave(root, linear(unitName(root), x, last[0], last[1]));
    }

private:
    WeightCatalogue m_weights;
};

} // namespace

std::unique_ptr<Model> makeMlp(const MlpPlan& plan)
{
    return std::make_unique<Mlp>(plan);
}

} // namespace mantissa
