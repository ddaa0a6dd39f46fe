#include "engine/model/layers.h"

#include <deque>

namespace mantissa {
namespace {

constexpr int kStages = 4;

/// Two 3×3 convolutions and the way around them. Its weights stand in this order in its unit.
struct Block {
    std::string name;
    std::int64_t inputs = 0;
    std::int64_t outputs = 0;
    std::int64_t stride = 1;
    std::size_t firstNorm = 0; ///< Of the model's norms.
    bool reshapes() const { return stride != 1 || inputs != outputs; }
};
enum BlockWeight : std::size_t {
    Conv1,
    Norm1W,
    Norm1B,
    Conv2,
    Norm2W,
    Norm2B,
    DownConv,
    DownNormW,
    DownNormB
};

/// A residual network with the names that torchvision gives its weights. Stem, blocks and the last layer are
/// units; that layer is the root.
class ResNet final : public Model {
public:
    explicit ResNet(const ResNetPlan& plan)
    {
        addConv("conv1", {plan.width, plan.inputChannels, 3, 3}, kStem);
        addNorm("bn1", plan.width, kStem);
        std::int64_t channels = plan.width;
        for (int stage = 0; stage < kStages; ++stage) {
            const std::int64_t outputs = plan.width << stage;
            for (std::int64_t i = 0; i < plan.blocks; ++i) {
                addBlock("layer" + std::to_string(stage + 1) + "." + std::to_string(i), channels, outputs,
                         stage > 0 && i == 0 ? 2 : 1);
                channels = outputs;
            }
        }
        m_weights.addPair("fc", {plan.classes, channels}, plan.classes, root());
    }

    const std::vector<ParameterSpec>& parameters() const override { return m_weights.specs(); }
    int unitCount() const override { return root() + 1; }
    std::string unitName(int unit) const override
    {
        if (unit == kStem)
            return "conv1";
        return unit == root() ? "fc" : m_blocks[static_cast<std::size_t>(unit - 1)].name;
    }

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
        for (std::size_t i = 0; i < m_blocks.size(); ++i) {
            const int unit = static_cast<int>(i) + 1;
            x = weights.leave(unit, run(m_blocks[i], x, weights.enter(unit), training));
        }
        const auto last = weights.enter(root());
        return weights.leave(root(), linear("fc", x.mean({2, 3}), last[0], last[1]));
    }

private:
    static constexpr int kStem = 0;

    int root() const { return static_cast<int>(m_blocks.size()) + 1; }

    void addConv(const std::string& name, std::vector<std::int64_t> shape, int unit)
    {
        m_weights.add(name + ".weight", std::move(shape), unit);
    }
    void addNorm(const std::string& name, std::int64_t channels, int unit)
    {
        m_weights.addPair(name, {channels}, channels, unit, WeightKind::Norm);
        m_norms.emplace_back(name, channels);
    }

    void addBlock(const std::string& name, std::int64_t inputs, std::int64_t outputs, std::int64_t stride)
    {
        const int unit = root();
        m_blocks.push_back({name, inputs, outputs, stride, m_norms.size()});
        addConv(name + ".conv1", {outputs, inputs, 3, 3}, unit);
        addNorm(name + ".bn1", outputs, unit);
        addConv(name + ".conv2", {outputs, outputs, 3, 3}, unit);
        addNorm(name + ".bn2", outputs, unit);
        if (!m_blocks.back().reshapes())
            return;
        addConv(name + ".downsample.0", {outputs, inputs, 1, 1}, unit);
        addNorm(name + ".downsample.1", outputs, unit);
    }

    at::Tensor run(const Block& block, const at::Tensor& input, const std::vector<at::Tensor>& w,
                   bool training)
    {
        auto* norm = &m_norms[block.firstNorm];
        at::Tensor x = at::conv2d(input, w[Conv1], {}, block.stride, 1);
        x = at::relu(norm->apply(x, w[Norm1W], w[Norm1B], training));
        norm = &m_norms[block.firstNorm + 1];
        x = norm->apply(at::conv2d(x, w[Conv2], {}, 1, 1), w[Norm2W], w[Norm2B], training);
        if (!block.reshapes())
            return at::relu(x + input);
        norm = &m_norms[block.firstNorm + 2];
        return at::relu(x
                        + norm->apply(at::conv2d(input, w[DownConv], {}, block.stride), w[DownNormW],
                                      w[DownNormB], training));
    }

    WeightCatalogue m_weights;
    std::vector<Block> m_blocks;
    std::deque<BatchNorm> m_norms;
};

} // namespace

std::unique_ptr<Model> makeResNet(const ResNetPlan& plan)
{
    return std::make_unique<ResNet>(plan);
}

} // namespace mantissa
