#include "engine/model/layers.h"

#include <cmath>
#include <limits>

namespace mantissa {
namespace {

constexpr double kEps = 1e-5;
constexpr std::uint64_t kDropoutStream = 3;

/// Where a block's weights stand in its unit.
enum BlockWeight : std::size_t { Ln1W, Ln1B, QkvW, QkvB, ProjW, ProjB, Ln2W, Ln2B, UpW, UpB, DownW, DownB };
/// … and the root's.
enum RootWeight : std::size_t { Token, Position, FinalW, FinalB, Head };

/// A decoder transformer with learned positions and pre-norm blocks. Every block is a unit; embeddings, last
/// norm and head are the root.
class Transformer final : public Model {
public:
    Transformer(const TransformerPlan& plan, std::uint64_t seed) : m_plan(plan), m_dropout(plan.dropout, seed)
    {
        const std::int64_t d = plan.width;
        const int root = static_cast<int>(plan.layers);
        m_weights.add("tok.weight", {plan.vocab, d}, root);
        m_weights.add("pos.weight", {plan.context, d}, root);
        for (int block = 0; block < root; ++block) {
            const std::string name = unitName(block) + ".";
            m_weights.addPair(name + "ln1", {d}, d, block);
            m_weights.addPair(name + "qkv", {3 * d, d}, 3 * d, block);
            m_weights.addPair(name + "proj", {d, d}, d, block);
            m_weights.addPair(name + "ln2", {d}, d, block);
            m_weights.addPair(name + "up", {4 * d, d}, 4 * d, block);
            m_weights.addPair(name + "down", {d, 4 * d}, d, block);
        }
        m_weights.addPair("ln_f", {d}, d, root);
        if (!plan.tiedHead)
            m_weights.add("head.weight", {plan.vocab, d}, root);
    }

    const std::vector<ParameterSpec>& parameters() const override { return m_weights.specs(); }
    int unitCount() const override { return static_cast<int>(m_plan.layers) + 1; }
    std::string unitName(int unit) const override
    {
        return unit == static_cast<int>(m_plan.layers) ? "root" : "blocks." + std::to_string(unit);
    }
    at::Tensor generatorState() const override { return m_dropout.state(); }
    void setGeneratorState(const at::Tensor& state) override { m_dropout.setState(state); }

    at::Tensor forward(const at::Tensor& input, WeightAccess& weights, bool training) override
    {
        const int root = unitCount() - 1;
        const auto outer = weights.enter(root);
        at::Tensor x =
            at::embedding(outer[Token], input) + at::embedding(outer[Position], at::arange(input.size(1)));
        x = m_dropout.apply(x, training);
        const auto body = [this, training](const at::Tensor& h, const std::vector<at::Tensor>& w) {
            return block(h, w, training);
        };
        for (int unit = 0; unit < root; ++unit)
            x = weights.run(unit, x, body);
        x = at::layer_norm(x, {m_plan.width}, outer[FinalW], outer[FinalB], kEps);
        const at::Tensor logits = at::linear(x, m_plan.tiedHead ? outer[Token] : outer[Head]);
        return weights.leave(root, logits.reshape({-1, m_plan.vocab}));
    }

private:
    at::Tensor block(at::Tensor x, const std::vector<at::Tensor>& w, bool training)
    {
        const at::Tensor attended = attention(at::layer_norm(x, {m_plan.width}, w[Ln1W], w[Ln1B], kEps), w);
        x = x + m_dropout.apply(at::linear(attended, w[ProjW], w[ProjB]), training);
        const at::Tensor widened =
            at::gelu(at::linear(at::layer_norm(x, {m_plan.width}, w[Ln2W], w[Ln2B], kEps), w[UpW], w[UpB]));
        return x + m_dropout.apply(at::linear(widened, w[DownW], w[DownB]), training);
    }

    at::Tensor attention(const at::Tensor& h, const std::vector<at::Tensor>& w) const
    {
        const std::int64_t batch = h.size(0);
        const std::int64_t length = h.size(1);
        const std::int64_t perHead = m_plan.width / m_plan.heads;
        const auto parts = at::linear(h, w[QkvW], w[QkvB]).split(m_plan.width, 2);
        const auto byHead = [&](const at::Tensor& part) {
            return part.view({batch, length, m_plan.heads, perHead}).transpose(1, 2);
        };
        const at::Tensor q = byHead(parts[0]);
        const at::Tensor k = byHead(parts[1]);
        const at::Tensor v = byHead(parts[2]);
        const at::Tensor mixed = m_plan.explicitAttention
            ? explicitAttention(q, k, v)
            : at::scaled_dot_product_attention(q, k, v, {}, 0.0, true);
        return mixed.transpose(1, 2).contiguous().view({batch, length, m_plan.width});
    }

    static at::Tensor explicitAttention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v)
    {
        const std::int64_t length = q.size(2);
        const at::Tensor scores =
            at::matmul(q, k.transpose(-2, -1)) * (1.0 / std::sqrt(static_cast<double>(q.size(3))));
        const at::Tensor future = at::ones({length, length}, at::kBool).triu(1);
        const at::Tensor masked = scores.masked_fill(future, -std::numeric_limits<double>::infinity());
        return at::matmul(at::softmax(masked, -1), v);
    }

    TransformerPlan m_plan;
    Dropout m_dropout;
    WeightCatalogue m_weights;
};

} // namespace

std::unique_ptr<Model> makeTransformer(const TransformerPlan& plan, std::uint64_t seed, int rank)
{
    return std::make_unique<Transformer>(plan,
                                         streamSeed(seed, kDropoutStream, static_cast<std::uint64_t>(rank)));
}

} // namespace mantissa
