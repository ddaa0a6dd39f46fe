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

BatchNorm::BatchNorm(std::string name, std::int64_t channels)
    : m_name(std::move(name)),
      m_mean(at::zeros({channels})),
      m_variance(at::ones({channels})),
      m_tracked(at::zeros({}, at::kLong))
{
}

at::Tensor BatchNorm::apply(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias,
                            bool training)
{
    constexpr double kEps = 1e-5;
    if (training)
        m_tracked.add_(1);
    return at::batch_norm(x, weight, bias, m_mean, m_variance, training, m_momentum, kEps, false);
}

void BatchNorm::addBuffers(std::vector<std::pair<std::string, at::Tensor>>& buffers) const
{
    buffers.emplace_back(m_name + ".running_mean", m_mean);
    buffers.emplace_back(m_name + ".running_var", m_variance);
    buffers.emplace_back(m_name + ".num_batches_tracked", m_tracked);
}

void BatchNorm::convert(at::ScalarType type)
{
    m_mean = m_mean.to(type);
    m_variance = m_variance.to(type);
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
