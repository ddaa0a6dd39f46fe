#include "engine/model/layers.h"
#include "engine/model/rotary.h"

#include <cmath>
#include <limits>

namespace mantissa {
namespace {

constexpr double kEps = 1e-5;
constexpr std::uint64_t kDropoutStream = 3;

/// The weights of one block, by its name.
struct BlockWeights {
    std::string name;
    const std::vector<at::Tensor>& w;
};
/// A decoder transformer with pre-norm blocks. Every block is a unit; embeddings, last norm and head are the
/// root.
class Transformer final : public Model {
public:
    Transformer(const TransformerPlan& plan, std::uint64_t seed) : Transformer(plan, layOut(plan), seed) {}

    const std::vector<ParameterSpec>& parameters() const override { return m_weights.specs(); }
    int unitCount() const override { return m_weights.unitCount(); }
    std::string unitName(int unit) const override { return m_weights.unitName(unit); }
    at::Tensor generatorState() const override { return m_dropout.state(); }
    void setGeneratorState(const at::Tensor& state) override { m_dropout.setState(state); }

    at::Tensor forward(const at::Tensor& input, WeightAccess& weights, bool training) override
    {
        const int root = unitCount() - 1;
        const auto outer = weights.enter(root);
        at::Tensor x = at::embedding(outer[m_places.token], input);
        if (m_places.position != TransformerPlaces::kNone)
            x = x + at::embedding(outer[m_places.position], at::arange(input.size(1)));
        x = m_dropout.apply(x, training);
        for (int unit = 0; unit < root; ++unit)
            x = weights.run(unit, x,
                            [this, unit, training](const at::Tensor& h, const std::vector<at::Tensor>& w) {
                                return block(h, {unitName(unit), w}, training);
                            });
        const at::Tensor logits = linear("head", norm(x, outer, m_places.lastNorm), outer[m_places.head]);
        return weights.leave(root, logits.reshape({-1, m_plan.vocab}));
    }

private:
    Transformer(const TransformerPlan& plan, TransformerWeights weights, std::uint64_t seed)
        : m_plan(plan),
          m_dropout(plan.dropout, seed),
          m_weights(std::move(weights.weights)),
          m_places(weights.places)
    {
        if (plan.positions == PositionKind::Rotary)
            m_rotary.emplace(plan.context, plan.width / plan.heads);
    }

    at::Tensor norm(const at::Tensor& x, const std::vector<at::Tensor>& w, std::size_t place) const
    {
        return m_plan.norm == NormKind::Layer
            ? at::layer_norm(x, {m_plan.width}, w[place], w[place + 1], kEps)
            : at::rms_norm(x, {m_plan.width}, w[place], kEps);
    }

    at::Tensor layer(const char* name, const at::Tensor& x, const BlockWeights& block,
                     std::size_t place) const
    {
        return linear(block.name + "." + name, x, block.w[place], block.w[place + 1]);
    }

    at::Tensor block(at::Tensor x, const BlockWeights& block, bool training)
    {
        const at::Tensor attended = attention(norm(x, block.w, m_places.norm1), block);
        x = x + m_dropout.apply(layer("proj", attended, block, m_places.proj), training);
        const at::Tensor widened = activation(norm(x, block.w, m_places.norm2), block);
        return x + m_dropout.apply(layer("down", widened, block, m_places.down), training);
    }

    at::Tensor activation(const at::Tensor& h, const BlockWeights& block) const
    {
        const at::Tensor up = layer("up", h, block, m_places.up);
        if (m_plan.activation == ActivationKind::SwiGlu)
            return at::silu(layer("gate", h, block, m_places.gate)) * up;
        return at::gelu(up, m_plan.activation == ActivationKind::GeluTanh ? "tanh" : "none");
    }

    at::Tensor attention(const at::Tensor& h, const BlockWeights& block) const
    {
        const std::int64_t batch = h.size(0);
        const std::int64_t length = h.size(1);
        const std::int64_t perHead = m_plan.width / m_plan.heads;
        const auto parts = layer("qkv", h, block, m_places.qkv).split(m_plan.width, 2);
        const auto byHead = [&](const at::Tensor& part) {
            return part.view({batch, length, m_plan.heads, perHead}).transpose(1, 2);
        };
        at::Tensor q = byHead(parts[0]);
        at::Tensor k = byHead(parts[1]);
        const at::Tensor v = byHead(parts[2]);
        if (m_rotary) {
            q = m_rotary->turn(q);
            k = m_rotary->turn(k);
        }
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
    TransformerPlaces m_places; ///< The same in every block.
    std::optional<Rotary> m_rotary;
};

} // namespace

std::unique_ptr<Model> makeTransformer(const TransformerPlan& plan, std::uint64_t seed, int rank)
{
    return std::make_unique<Transformer>(plan,
                                         streamSeed(seed, kDropoutStream, static_cast<std::uint64_t>(rank)));
}

} // namespace mantissa
