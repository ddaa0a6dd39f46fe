#include "engine/core/counted.h"
#include "engine/model/layers.h"

#include <cmath>
#include <numeric>

namespace mantissa {
namespace {

constexpr std::uint64_t kWeightStream = 1;

std::int64_t fanIn(const std::vector<std::int64_t>& shape)
{
    return std::accumulate(shape.begin() + 1, shape.end(), std::int64_t{1}, std::multiplies<>());
}

/// A norm begins as one that changes nothing.
at::Tensor drawNorm(const ParameterSpec& spec)
{
    return spec.name.ends_with(".weight") ? at::ones(spec.shape) : at::zeros(spec.shape);
}

/// Linear and convolution layers draw weight and bias alike: uniform within 1/√(inputs of one output).
at::Tensor drawAsTorch(const ParameterSpec& spec, std::int64_t inputs, const at::Generator& generator)
{
    at::Tensor tensor = at::empty(spec.shape);
    if (spec.kind == WeightKind::Embedding)
        return tensor.normal_(0.0, 1.0, generator);
    const double bound = 1.0 / std::sqrt(static_cast<double>(inputs));
    return tensor.uniform_(-bound, bound, generator);
}

/// GPT-2: what 2n layers add up in the residual stream keeps the deviation of one.
at::Tensor drawAsGpt2(const ParameterSpec& spec, std::int64_t blocks, const at::Generator& generator)
{
    constexpr double kDeviation = 0.02;
    if (spec.name.ends_with(".bias"))
        return at::zeros(spec.shape);
    const double layers = spec.kind == WeightKind::Residual ? 2.0 * static_cast<double>(blocks) : 1.0;
    return at::empty(spec.shape).normal_(0.0, kDeviation / std::sqrt(layers), generator);
}

struct Describe {
    std::string operator()(const MlpPlan& plan) const { return "rows of " + counted(plan.inputs, "number"); }
    std::string operator()(const ConvNetPlan& plan) const
    {
        return images(plan.inputChannels, plan.imageSize);
    }
    std::string operator()(const ResNetPlan& plan) const
    {
        return images(plan.inputChannels, plan.imageSize);
    }
    std::string operator()(const TransformerPlan& plan) const { return tokens(plan.context, plan.vocab); }
    std::string operator()(const GanPlan& plan) const { return (*this)(MlpPlan{.inputs = plan.inputs}); }
    std::string operator()(const ScriptPlan& plan) const
    {
        return plan.input == InputKind::Tokens ? tokens(plan.inputs, plan.classes)
            : plan.input == InputKind::Images  ? images(plan.inputChannels, plan.inputs)
                                               : (*this)(MlpPlan{.inputs = plan.inputs});
    }
    static std::string images(std::int64_t channels, std::int64_t side)
    {
        const std::string size = std::to_string(side);
        return "images of " + std::to_string(channels) + "×" + size + "×" + size;
    }
    static std::string tokens(std::int64_t context, std::int64_t vocab)
    {
        return "rows of at most " + counted(context, "token") + " below " + std::to_string(vocab);
    }
};

} // namespace

WeightDrawer::WeightDrawer(const ModelPlan& plan, std::uint64_t seed)
    : m_specs(makeModel(plan, seed, 0)->parameters()),
      m_generator(at::make_generator<at::CPUGeneratorImpl>(streamSeed(seed, kWeightStream, 0)))
{
    if (const auto* script = std::get_if<ScriptPlan>(&plan))
        m_given = scriptWeights(*script);
    const auto* transformer = std::get_if<TransformerPlan>(&plan);
    if (transformer && transformer->init == InitKind::Gpt2)
        m_gpt2Blocks = transformer->layers;
}

at::Tensor WeightDrawer::next()
{
    const std::size_t index = m_next++;
    const auto& spec = m_specs.at(index);
    if (!m_given.empty())
        return m_given.at(index);
    if (spec.shape.size() > 1)
        m_inputs = fanIn(spec.shape); // A bias comes after its weight and shares its fan-in.
    if (spec.kind == WeightKind::Norm)
        return drawNorm(spec);
    return m_gpt2Blocks > 0 ? drawAsGpt2(spec, m_gpt2Blocks, m_generator)
                            : drawAsTorch(spec, m_inputs, m_generator);
}

std::vector<at::Tensor> initialWeights(const ModelPlan& plan, std::uint64_t seed)
{
    WeightDrawer drawer(plan, seed);
    std::vector<at::Tensor> weights(makeModel(plan, seed, 0)->parameters().size());
    for (auto& weight : weights)
        weight = drawer.next();
    return weights;
}

std::string describeInput(const ModelPlan& plan)
{
    return std::visit(Describe{}, plan);
}

std::unique_ptr<Model> makeModel(const ModelPlan& plan, std::uint64_t seed, int rank)
{
    if (const auto* mlp = std::get_if<MlpPlan>(&plan))
        return makeMlp(*mlp);
    if (const auto* conv = std::get_if<ConvNetPlan>(&plan))
        return makeConvNet(*conv);
    if (const auto* residual = std::get_if<ResNetPlan>(&plan))
        return makeResNet(*residual);
    if (const auto* gan = std::get_if<GanPlan>(&plan))
        return makeGan(*gan, seed);
    if (const auto* script = std::get_if<ScriptPlan>(&plan))
        return makeScript(*script, seed, rank);
    return makeTransformer(std::get<TransformerPlan>(plan), seed, rank);
}

} // namespace mantissa
