#include "engine/model/layers.h"

#include <deque>

namespace mantissa {
namespace {

/// A residual network with the names that torchvision gives its weights. Stem, blocks and the last layer are
/// units; that layer is the root.
class ResNet final : public Model {
public:
    explicit ResNet(const ResNetPlan& plan) : m_weights(weightsOf(plan)), m_blocks(blocksOf(plan))
    {
        constexpr std::string_view kWeight = ".weight";
        for (const auto& spec : m_weights.specs()) {
            if (spec.kind == WeightKind::Norm && spec.name.ends_with(kWeight))
                m_norms.emplace_back(spec.name.substr(0, spec.name.size() - kWeight.size()), spec.shape[0]);
        }
    }

    const std::vector<ParameterSpec>& parameters() const override { return m_weights.specs(); }
    int unitCount() const override { return m_weights.unitCount(); }
    std::string unitName(int unit) const override { return m_weights.unitName(unit); }

    std::vector<std::pair<std::string, at::Tensor>> buffers() const override
    {
        std::vector<std::pair<std::string, at::Tensor>> buffers;
        for (const auto& norm : m_norms)
            norm.addBuffers(buffers);
        return buffers;
    }
    void convertBuffers(at::ScalarType type) override
    {
        for (auto& norm : m_norms)
            norm.convert(type);
    }
    void setNormMomentum(double momentum) override
    {
        for (auto& norm : m_norms)
            norm.setMomentum(momentum);
    }

    at::Tensor forward(const at::Tensor& input, WeightAccess& weights, bool training) override
    {
        const auto stem = weights.enter(kStem);
        at::Tensor x = at::conv2d(input, stem[0], {}, 1, 1);
        x = weights.leave(kStem, at::relu(m_norms.front().apply(x, stem[1], stem[2], training)));
        int unit = kStem;
        auto norm = m_norms.begin() + 1;
        for (const auto& block : m_blocks) {
            x = weights.leave(unit + 1, run(block, norm, x, weights.enter(unit + 1), training));
            norm += block.reshapes() ? 3 : 2;
            ++unit;
        }
        const auto last = weights.enter(root());
        return weights.leave(root(), linear("fc", x.mean({2, 3}), last[0], last[1]));
    }

private:
    static constexpr int kStem = 0;

    int root() const { return unitCount() - 1; }

    static at::Tensor run(const ResidualBlock& block, std::deque<BatchNorm>::iterator norm,
                          const at::Tensor& input, const std::vector<at::Tensor>& w, bool training)
    {
        at::Tensor x = at::conv2d(input, w[Conv1], {}, block.stride, 1);
        x = at::relu(norm->apply(x, w[Norm1W], w[Norm1B], training));
        ++norm;
        x = norm->apply(at::conv2d(x, w[Conv2], {}, 1, 1), w[Norm2W], w[Norm2B], training);
        if (!block.reshapes())
            return at::relu(x + input);
        ++norm;
        return at::relu(x
                        + norm->apply(at::conv2d(input, w[DownConv], {}, block.stride), w[DownNormW],
                                      w[DownNormB], training));
    }

    WeightCatalogue m_weights;
    std::vector<ResidualBlock> m_blocks;
    std::deque<BatchNorm> m_norms;
};

} // namespace

std::unique_ptr<Model> makeResNet(const ResNetPlan& plan)
{
    return std::make_unique<ResNet>(plan);
}

} // namespace mantissa
