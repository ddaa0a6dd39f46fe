#include "engine/model/layers.h"

namespace mantissa {
namespace {

/// Two convolutions, the first with optional batch norm and pooling, and a linear layer: the root.
class ConvNet final : public Model {
public:
    explicit ConvNet(const ConvNetPlan& plan) : m_weights(weightsOf(plan))
    {
        if (plan.batchNorm)
            m_norm.emplace("bn1", plan.channels1);
    }

    const std::vector<ParameterSpec>& parameters() const override { return m_weights.specs(); }
    int unitCount() const override { return m_weights.unitCount(); }
    std::string unitName(int unit) const override { return m_weights.unitName(unit); }

    std::vector<std::pair<std::string, at::Tensor>> buffers() const override
    {
        std::vector<std::pair<std::string, at::Tensor>> buffers;
        if (m_norm)
            m_norm->addBuffers(buffers);
        return buffers;
    }
    void convertBuffers(at::ScalarType type) override
    {
        if (m_norm)
            m_norm->convert(type);
    }
    void setNormMomentum(double momentum) override
    {
        if (m_norm)
            m_norm->setMomentum(momentum);
    }

    at::Tensor forward(const at::Tensor& input, WeightAccess& weights, bool training) override
    {
        const auto first = weights.enter(kFirst);
        at::Tensor x = at::conv2d(input, first[0], first[1], 1, 1);
        if (m_norm)
            x = m_norm->apply(x, first[2], first[3], training);
        x = weights.leave(kFirst, at::max_pool2d(at::relu(x), 2));
        x = weights.run(kSecond, x, [](const at::Tensor& images, const std::vector<at::Tensor>& w) {
            return at::relu(at::conv2d(images, w[0], w[1], 1, 1));
        });
        const auto root = weights.enter(kRoot);
        return weights.leave(kRoot, linear("fc", at::flatten(x, 1), root[0], root[1]));
    }

private:
    static constexpr int kFirst = 0;
    static constexpr int kSecond = 1;
    static constexpr int kRoot = 2;

    WeightCatalogue m_weights;
    std::optional<BatchNorm> m_norm;
};

} // namespace

std::unique_ptr<Model> makeConvNet(const ConvNetPlan& plan)
{
    return std::make_unique<ConvNet>(plan);
}

} // namespace mantissa
