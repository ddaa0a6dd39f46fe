#include "engine/model/layers.h"

namespace mantissa {

Dropout::Dropout(double probability, std::uint64_t seed)
    : m_probability(probability), m_generator(at::make_generator<at::CPUGeneratorImpl>(seed))
{
}

at::Tensor Dropout::apply(const at::Tensor& x, bool training)
{
    if (!training || m_probability <= 0.0)
        return x;
    const double kept = 1.0 - m_probability;
    return x * at::empty_like(x).bernoulli_(kept, m_generator).div_(kept);
}

at::Tensor Dropout::state() const
{
    return m_probability > 0.0 ? m_generator.get_state() : at::Tensor();
}

void Dropout::setState(const at::Tensor& state)
{
    m_generator.set_state(state);
}

void WeightCatalogue::add(std::string name, std::vector<std::int64_t> shape, int unit)
{
    m_specs.push_back({std::move(name), std::move(shape), unit});
}

void WeightCatalogue::addPair(const std::string& name, std::vector<std::int64_t> weight, std::int64_t bias,
                              int unit)
{
    add(name + ".weight", std::move(weight), unit);
    add(name + ".bias", {bias}, unit);
}

std::uint64_t streamSeed(std::uint64_t seed, std::uint64_t purpose, std::uint64_t rank)
{
    // SplitMix64's finisher, so that neighbouring seeds give unrelated streams.
    std::uint64_t x = seed + 0x9E3779B97F4A7C15ULL * (purpose * 1024 + rank + 1);
    x = (x ^ (x >> 30U)) * 0xBF58476D1CE4E5B9ULL;
    x = (x ^ (x >> 27U)) * 0x94D049BB133111EBULL;
    return x ^ (x >> 31U);
}

} // namespace mantissa
