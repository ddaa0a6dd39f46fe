#pragma once

#include "engine/model/model.h"

#include <cmath>
#include <utility>

namespace mantissa {

inline at::Generator seeded(std::uint64_t seed)
{
    return at::make_generator<at::CPUGeneratorImpl>(seed);
}

/// Weights for any model, the same on every rank.
inline std::vector<at::Tensor> drawnWeights(const Model& model, std::uint64_t seed)
{
    auto generator = seeded(seed);
    std::vector<at::Tensor> weights;
    for (const auto& spec : model.parameters()) {
        const double scale =
            spec.shape.size() > 1 ? 1.0 / std::sqrt(static_cast<double>(spec.shape.back())) : 0.1;
        weights.push_back(at::randn(spec.shape, generator).mul_(scale));
    }
    return weights;
}

/// Linear layers with ReLU between, each its own unit; the last is the root. `idle` adds a unit that is
/// gathered and not used, `frozen` lets no gradient reach the first layer.
class LayersModel final : public Model {
public:
    explicit LayersModel(std::vector<std::int64_t> widths, bool idle = false, bool frozen = false)
        : m_layers(static_cast<int>(widths.size()) - 1), m_idle(idle), m_frozen(frozen)
    {
        for (int layer = 0; layer < m_layers; ++layer) {
            const auto in = widths[static_cast<std::size_t>(layer)];
            const auto out = widths[static_cast<std::size_t>(layer) + 1];
            if (idle && layer == m_layers - 1)
                m_specs.push_back({"idle.weight", {3, 5}, layer});
            const std::string name = "fc" + std::to_string(layer + 1);
            m_specs.push_back({name + ".weight", {out, in}, unitOf(layer)});
            m_specs.push_back({name + ".bias", {out}, unitOf(layer)});
        }
    }

    const std::vector<ParameterSpec>& parameters() const override { return m_specs; }
    int unitCount() const override { return m_layers + (m_idle ? 1 : 0); }
    std::string unitName(int unit) const override { return "unit" + std::to_string(unit); }

    at::Tensor forward(const at::Tensor& input, WeightAccess& weights, bool) override
    {
        at::Tensor x = input;
        for (int layer = 0; layer < m_layers; ++layer) {
            const int unit = unitOf(layer);
            if (unit != layer)
                weights.leave(layer, weights.enter(layer).front().sum());
            const bool cut = m_frozen && layer == 0;
            const bool last = layer + 1 == m_layers;
            x = weights.run(unit, x, [cut, last](const at::Tensor& rows, const std::vector<at::Tensor>& w) {
                const auto out =
                    cut ? at::linear(rows, w[0].detach(), w[1].detach()) : at::linear(rows, w[0], w[1]);
                return last ? out : at::relu(out);
            });
        }
        return x;
    }

private:
    int unitOf(int layer) const { return m_idle && layer == m_layers - 1 ? layer + 1 : layer; }

    int m_layers;
    bool m_idle;
    bool m_frozen;
    std::vector<ParameterSpec> m_specs;
};

/// A root that works below and above the other units, as in a transformer: an embedding, and a head with or
/// without its own weight.
class SandwichModel final : public Model {
public:
    SandwichModel(std::int64_t vocabulary, std::int64_t width, bool tied, bool entersTwice)
        : m_tied(tied), m_entersTwice(entersTwice)
    {
        m_specs = {{"tok.weight", {vocabulary, width}, 2}, {"in.weight", {width, width}, 2}};
        for (int block : {0, 1})
            m_specs.push_back({"blocks." + std::to_string(block) + ".weight", {width, width}, block});
        if (!tied)
            m_specs.push_back({"head.weight", {vocabulary, width}, 2});
    }

    const std::vector<ParameterSpec>& parameters() const override { return m_specs; }
    int unitCount() const override { return 3; }
    std::string unitName(int unit) const override
    {
        return unit == 2 ? "root" : "blocks." + std::to_string(unit);
    }

    at::Tensor forward(const at::Tensor& input, WeightAccess& weights, bool) override
    {
        auto root = weights.enter(2);
        at::Tensor x =
            at::tanh(at::linear(at::embedding(root[0], input), root[1])); // needs its weight in backward
        for (int block : {0, 1})
            x = weights.run(block, x, [](const at::Tensor& h, const std::vector<at::Tensor>& w) {
                return h + at::gelu(at::linear(h, w[0]));
            });
        if (m_entersTwice)
            root = weights.enter(2);
        return weights.leave(2, at::linear(x, m_tied ? root[0] : root[2]));
    }

private:
    bool m_tied;
    bool m_entersTwice;
    std::vector<ParameterSpec> m_specs;
};

} // namespace mantissa
