#pragma once

#include "engine/model/model.h"

#include <optional>

namespace mantissa {

/// Dropout from a generator of its own: LibTorch's draws from one that all rank threads share.
class Dropout {
public:
    Dropout(double probability, std::uint64_t seed);

    at::Tensor apply(const at::Tensor& x, bool training);
    at::Tensor state() const; ///< Undefined where the probability is 0.
    void setState(const at::Tensor& state);

private:
    double m_probability;
    at::Generator m_generator;
};

/// Collects the specs of a model in `param_order`.
class WeightCatalogue {
public:
    void add(std::string name, std::vector<std::int64_t> shape, int unit);
    /// Weight and bias, in that order.
    void addPair(const std::string& name, std::vector<std::int64_t> weight, std::int64_t bias, int unit);

    const std::vector<ParameterSpec>& specs() const { return m_specs; }

private:
    std::vector<ParameterSpec> m_specs;
};

/// Seed of one stream of random numbers of a run: different for each purpose and rank.
std::uint64_t streamSeed(std::uint64_t seed, std::uint64_t purpose, std::uint64_t rank);

std::unique_ptr<Model> makeMlp(const MlpPlan& plan);
std::unique_ptr<Model> makeConvNet(const ConvNetPlan& plan);
std::unique_ptr<Model> makeTransformer(const TransformerPlan& plan, std::uint64_t seed, int rank);

} // namespace mantissa
