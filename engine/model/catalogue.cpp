#include "engine/core/counted.h"
#include "engine/model/layers.h"

#include <cmath>
#include <numeric>

namespace mantissa {
namespace {

constexpr std::uint64_t kWeightStream = 1;

bool endsWith(const std::string& text, std::string_view end)
{
    return text.size() >= end.size() && std::string_view(text).substr(text.size() - end.size()) == end;
}

bool isNorm(const std::string& name)
{
    return name.find("ln") == 0 || name.find(".ln") != std::string::npos || name.find("bn") == 0;
}

bool isEmbedding(const std::string& name)
{
    return name == "tok.weight" || name == "pos.weight";
}

std::int64_t fanIn(const std::vector<std::int64_t>& shape)
{
    return std::accumulate(shape.begin() + 1, shape.end(), std::int64_t{1}, std::multiplies<>());
}

/// Linear and convolution layers draw weight and bias alike: uniform within 1/√(inputs of one output).
at::Tensor draw(const ParameterSpec& spec, std::int64_t inputs, const at::Generator& generator)
{
    at::Tensor tensor = at::empty(spec.shape);
    if (isNorm(spec.name))
        return endsWith(spec.name, ".weight") ? tensor.fill_(1.0) : tensor.zero_();
    if (isEmbedding(spec.name))
        return tensor.normal_(0.0, 1.0, generator);
    const double bound = 1.0 / std::sqrt(static_cast<double>(inputs));
    return tensor.uniform_(-bound, bound, generator);
}

struct Describe {
    std::string operator()(const MlpPlan& plan) const { return "rows of " + counted(plan.inputs, "number"); }
    std::string operator()(const ConvNetPlan& plan) const
    {
        const std::string side = std::to_string(plan.imageSize);
        return "images of 1×" + side + "×" + side;
    }
    std::string operator()(const TransformerPlan& plan) const
    {
        return "rows of at most " + counted(plan.context, "token") + " below " + std::to_string(plan.vocab);
    }
};

} // namespace

WeightDrawer::WeightDrawer(const ModelPlan& plan, std::uint64_t seed)
    : m_specs(makeModel(plan, seed, 0)->parameters()),
      m_generator(at::make_generator<at::CPUGeneratorImpl>(streamSeed(seed, kWeightStream, 0)))
{
}

at::Tensor WeightDrawer::next()
{
    const auto& spec = m_specs.at(m_next++);
    if (spec.shape.size() > 1)
        m_inputs = fanIn(spec.shape); // A bias comes after its weight and shares its fan-in.
    return draw(spec, m_inputs, m_generator);
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
    return makeTransformer(std::get<TransformerPlan>(plan), seed, rank);
}

} // namespace mantissa
