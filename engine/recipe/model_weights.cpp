#include "engine/recipe/model_weights.h"

namespace mantissa {
namespace {

/// Inner width of a block: four times the outer, or with a gate two thirds of that in whole eights, so that
/// the weights stay as many.
std::int64_t innerWidth(const TransformerPlan& plan)
{
    return plan.activation == ActivationKind::SwiGlu ? (plan.width * 8 / 3 + 7) / 8 * 8 : 4 * plan.width;
}

class TransformerLayout {
public:
    explicit TransformerLayout(const TransformerPlan& plan) : m_plan(plan) {}

    TransformerWeights make()
    {
        const int root = static_cast<int>(m_plan.layers);
        for (int block = 0; block < root; ++block)
            m_weights.addUnit("blocks." + std::to_string(block));
        m_weights.addUnit("root");
        m_places.token =
            m_weights.add("tok.weight", {m_plan.vocab, m_plan.width}, root, WeightKind::Embedding);
        if (m_plan.positions == PositionKind::Learned)
            m_places.position =
                m_weights.add("pos.weight", {m_plan.context, m_plan.width}, root, WeightKind::Embedding);
        for (int block = 0; block < root; ++block)
            addBlock(block);
        m_places.lastNorm = addNorm("ln_f", root);
        m_places.head = m_plan.tiedHead ? m_places.token
                                        : m_weights.add("head.weight", {m_plan.vocab, m_plan.width}, root);
        return {std::move(m_weights), m_places};
    }

private:
    std::size_t addNorm(const std::string& name, int unit)
    {
        return m_plan.norm == NormKind::Layer
            ? m_weights.addPair(name, {m_plan.width}, m_plan.width, unit, WeightKind::Norm)
            : m_weights.add(name + ".weight", {m_plan.width}, unit, WeightKind::Norm);
    }

    void addBlock(int unit)
    {
        const std::int64_t d = m_plan.width;
        const std::int64_t inner = innerWidth(m_plan);
        const std::string name = m_weights.unitName(unit) + ".";
        m_places.norm1 = addNorm(name + "ln1", unit);
        m_places.qkv = m_weights.addPair(name + "qkv", {3 * d, d}, 3 * d, unit);
        m_places.proj = m_weights.addPair(name + "proj", {d, d}, d, unit, WeightKind::Residual);
        m_places.norm2 = addNorm(name + "ln2", unit);
        m_places.up = m_weights.addPair(name + "up", {inner, d}, inner, unit);
        if (m_plan.activation == ActivationKind::SwiGlu)
            m_places.gate = m_weights.addPair(name + "gate", {inner, d}, inner, unit);
        m_places.down = m_weights.addPair(name + "down", {d, inner}, d, unit, WeightKind::Residual);
    }

    const TransformerPlan& m_plan;
    WeightCatalogue m_weights;
    TransformerPlaces m_places;
};

void addNorm(WeightCatalogue& weights, const std::string& name, std::int64_t channels, int unit)
{
    weights.addPair(name, {channels}, channels, unit, WeightKind::Norm);
}

void addBlock(WeightCatalogue& weights, const ResidualBlock& block)
{
    const int unit = weights.addUnit(block.name);
    weights.add(block.name + ".conv1.weight", {block.outputs, block.inputs, 3, 3}, unit);
    addNorm(weights, block.name + ".bn1", block.outputs, unit);
    weights.add(block.name + ".conv2.weight", {block.outputs, block.outputs, 3, 3}, unit);
    addNorm(weights, block.name + ".bn2", block.outputs, unit);
    if (!block.reshapes())
        return;
    weights.add(block.name + ".downsample.0.weight", {block.outputs, block.inputs, 1, 1}, unit);
    addNorm(weights, block.name + ".downsample.1", block.outputs, unit);
}

/// "fc1", "fc2", …: linear layers, each a unit.
void addLayers(WeightCatalogue& weights, const std::string& prefix, std::int64_t from, std::int64_t hidden,
               std::int64_t to, std::int64_t layers)
{
    for (std::int64_t layer = 0; layer < layers; ++layer) {
        const std::int64_t in = layer == 0 ? from : hidden;
        const std::int64_t out = layer + 1 == layers ? to : hidden;
        const std::string name = prefix + "fc" + std::to_string(layer + 1);
        weights.addPair(name, {out, in}, out, weights.addUnit(name));
    }
}

struct WeightsOf {
    template <typename Plan>
    std::optional<WeightCatalogue> operator()(const Plan& plan) const
    {
        return weightsOf(plan);
    }
    std::optional<WeightCatalogue> operator()(const TransformerPlan& plan) const
    {
        return layOut(plan).weights;
    }
    std::optional<WeightCatalogue> operator()(const ScriptPlan&) const { return std::nullopt; }
};

} // namespace

WeightCatalogue weightsOf(const MlpPlan& plan)
{
    WeightCatalogue weights;
    addLayers(weights, "", plan.inputs, plan.hidden, plan.classes, plan.layers);
    return weights;
}

WeightCatalogue weightsOf(const GanPlan& plan)
{
    WeightCatalogue weights;
    addLayers(weights, "generator.", plan.latent, plan.hidden, plan.inputs, plan.layers);
    addLayers(weights, "discriminator.", plan.inputs, plan.hidden, 1, plan.layers);
    return weights;
}

WeightCatalogue weightsOf(const ConvNetPlan& plan)
{
    constexpr std::int64_t kKernel = 3;
    const std::int64_t half = plan.imageSize / 2;
    WeightCatalogue weights;
    const int first = weights.addUnit("conv1");
    weights.addPair("conv1", {plan.channels1, plan.inputChannels, kKernel, kKernel}, plan.channels1, first);
    if (plan.batchNorm)
        addNorm(weights, "bn1", plan.channels1, first);
    weights.addPair("conv2", {plan.channels2, plan.channels1, kKernel, kKernel}, plan.channels2,
                    weights.addUnit("conv2"));
    weights.addPair("fc", {plan.classes, plan.channels2 * half * half}, plan.classes, weights.addUnit("fc"));
    return weights;
}

std::vector<ResidualBlock> blocksOf(const ResNetPlan& plan)
{
    constexpr int kStages = 4;
    std::vector<ResidualBlock> blocks;
    std::int64_t channels = plan.width;
    for (int stage = 0; stage < kStages; ++stage) {
        const std::int64_t outputs = plan.width << stage;
        for (std::int64_t i = 0; i < plan.blocks; ++i) {
            blocks.push_back({"layer" + std::to_string(stage + 1) + "." + std::to_string(i), channels,
                              outputs, stage > 0 && i == 0 ? 2 : 1});
            channels = outputs;
        }
    }
    return blocks;
}

WeightCatalogue weightsOf(const ResNetPlan& plan)
{
    const std::vector<ResidualBlock> blocks = blocksOf(plan);
    WeightCatalogue weights;
    const int stem = weights.addUnit("conv1");
    weights.add("conv1.weight", {plan.width, plan.inputChannels, 3, 3}, stem);
    addNorm(weights, "bn1", plan.width, stem);
    for (const auto& block : blocks)
        addBlock(weights, block);
    const std::int64_t channels = blocks.empty() ? plan.width : blocks.back().outputs;
    weights.addPair("fc", {plan.classes, channels}, plan.classes, weights.addUnit("fc"));
    return weights;
}

TransformerWeights layOut(const TransformerPlan& plan)
{
    return TransformerLayout(plan).make();
}

std::optional<WeightCatalogue> modelWeights(const ModelPlan& plan)
{
    return std::visit(WeightsOf{}, plan);
}

} // namespace mantissa
