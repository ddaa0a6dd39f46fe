#pragma once

#include "engine/model/model.h"
#include "engine/recipe/model_weights.h"

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

/// Batch normalisation over the rows of a rank, with its running statistics.
class BatchNorm {
public:
    BatchNorm(std::string name, std::int64_t channels);

    at::Tensor apply(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias, bool training);

    void addBuffers(std::vector<std::pair<std::string, at::Tensor>>& buffers) const;
    void convert(at::ScalarType type); ///< All but the counter.
    void setMomentum(double momentum) { m_momentum = momentum; }

private:
    std::string m_name;
    double m_momentum = 0.1;
    at::Tensor m_mean;
    at::Tensor m_variance;
    at::Tensor m_tracked;
};

/// Seed of one stream of random numbers of a run: different for each purpose and rank.
std::uint64_t streamSeed(std::uint64_t seed, std::uint64_t purpose, std::uint64_t rank);

std::unique_ptr<Model> makeMlp(const MlpPlan& plan);
std::unique_ptr<Model> makeConvNet(const ConvNetPlan& plan);
std::unique_ptr<Model> makeResNet(const ResNetPlan& plan);
std::unique_ptr<Model> makeTransformer(const TransformerPlan& plan, std::uint64_t seed, int rank);
std::unique_ptr<Model> makeGan(const GanPlan& plan, std::uint64_t seed);
std::unique_ptr<Model> makeScript(const ScriptPlan& plan, std::uint64_t seed, int rank);

/// The weights that a TorchScript file holds, in param order.
std::vector<at::Tensor> scriptWeights(const ScriptPlan& plan);

} // namespace mantissa
