#include "engine/model/layers.h"

namespace mantissa {
namespace {

constexpr std::uint64_t kNoiseStream = 5;
constexpr double kSlope = 0.2; // of the leaky ReLU between layers

/// A generator and a discriminator, both of linear layers. Every layer is a unit; the discriminator's last
/// one is the root. The first turn is the discriminator's, the second the generator's.
class Gan final : public Model {
public:
    Gan(const GanPlan& plan, std::uint64_t seed) : m_plan(plan), m_weights(weightsOf(plan)), m_seed(seed) {}

    const std::vector<ParameterSpec>& parameters() const override { return m_weights.specs(); }
    int unitCount() const override { return m_weights.unitCount(); }
    std::string unitName(int unit) const override { return m_weights.unitName(unit); }

    /// How real the rows look.
    at::Tensor forward(const at::Tensor& input, WeightAccess& weights, bool) override
    {
        return judge(input, weights, true);
    }

    Answers answer(const Batch& batch, WeightAccess& weights, const PassPlace& place) override
    {
        const at::Tensor noise = noiseFor(batch.input, place);
        const auto answers = [](double value, const at::Tensor& rows) {
            return at::full({rows.size(0)}, value, at::kFloat);
        };
        if (place.turn > 0) {
            const at::Tensor made = make(noise, weights);
            return {judge(made, weights, false), answers(1.0, made)};
        }
        at::Tensor made;
        {
            const at::NoGradGuard detached;
            made = make(noise, weights).to(batch.input.scalar_type());
        }
        return {judge(at::cat({batch.input, made}), weights, true),
                at::cat({answers(1.0, batch.input), answers(0.0, made)})};
    }

private:
    /// Drawn for the rows of all ranks, so that they are the same on however many the batch is spread.
    at::Tensor noiseFor(const at::Tensor& rows, const PassPlace& place) const
    {
        const std::int64_t mine = rows.size(0);
        const auto pass = 2 * static_cast<std::uint64_t>(place.batch) + place.turn;
        const auto generator = at::make_generator<at::CPUGeneratorImpl>(
            streamSeed(streamSeed(m_seed, kNoiseStream, 0), pass, 0));
        const at::Tensor all = at::empty({mine * place.ranks, m_plan.latent}).normal_(0.0, 1.0, generator);
        return all.narrow(0, place.rank * mine, mine).to(rows.scalar_type());
    }

    at::Tensor layer(int unit, const at::Tensor& rows, const std::vector<at::Tensor>& w, bool last) const
    {
        const at::Tensor out = linear(unitName(unit), rows, w[0], w[1]);
        return last ? out : at::leaky_relu(out, kSlope);
    }

    at::Tensor make(const at::Tensor& noise, WeightAccess& weights) const
    {
        at::Tensor x = noise;
        for (int unit = 0; unit < unitCount() / 2; ++unit) {
            const bool last = unit + 1 == unitCount() / 2;
            x = weights.run(unit, x,
                            [this, unit, last](const at::Tensor& rows, const std::vector<at::Tensor>& w) {
                                return layer(unit, rows, w, last);
                            });
        }
        return x;
    }

    /// `learns`: its weights are to get gradients; else they go through to the rows alone.
    at::Tensor judge(const at::Tensor& input, WeightAccess& weights, bool learns) const
    {
        const auto given = [learns](const std::vector<at::Tensor>& w) {
            return learns ? w : std::vector<at::Tensor>{w[0].detach(), w[1].detach()};
        };
        const int root = unitCount() - 1;
        at::Tensor x = input;
        for (int unit = unitCount() / 2; unit < root; ++unit)
            x = weights.run(unit, x,
                            [this, unit, given](const at::Tensor& rows, const std::vector<at::Tensor>& w) {
                                return layer(unit, rows, given(w), false);
                            });
        const auto last = given(weights.enter(root));
        return weights.leave(root, layer(root, x, last, true)).reshape({-1});
    }

    GanPlan m_plan;
    WeightCatalogue m_weights;
    std::uint64_t m_seed;
};

} // namespace

std::unique_ptr<Model> makeGan(const GanPlan& plan, std::uint64_t seed)
{
    return std::make_unique<Gan>(plan, seed);
}

} // namespace mantissa
