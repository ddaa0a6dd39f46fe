#pragma once

#include "engine/strategy/gradient_buckets.h"
#include "engine/strategy/strategy.h"

#include <memory>

namespace mantissa {

struct ReplicaOptions {
    at::ScalarType stored = at::kFloat;
    DdpPlan plan;
    std::vector<std::string> frozen;
};

/// Whole weights on every rank. With more than one rank the gradients are averaged in buckets, once for a
/// window, or once for each micro batch that syncs. With one rank nothing travels and nothing is copied.
class ReplicaStrategy final : public Strategy {
public:
    ReplicaStrategy(const Model& model, const WeightSource& weights, ReplicaOptions options,
                    Communicator& communicator);

    std::vector<at::Tensor> enter(int unit) override;
    at::Tensor leave(int unit, const at::Tensor& output) override;

    const std::vector<at::Tensor>& parameters() const override { return m_parameters; }

    void setSync(bool sync) override;
    void endOfBackward() override;
    NonfiniteTally takeNonfiniteBefore() override;
    void reduceGradients() override;
    void zeroGradients() override;
    void endOfStep() override {}

    bool holdsParts() const override { return false; }
    int holders() const override { return m_communicator.size(); }
    double sumOverShards(double partOfThisRank) override { return partOfThisRank; }
    double maxOverShards(double partOfThisRank) override { return partOfThisRank; }

    NamedTensors fullParameters(bool wanted) override;
    NamedTensors fullState(const std::vector<at::Tensor>& perParameter, bool wanted) override;
    std::uint64_t peakParameterBytes() const override { return m_memory.parameters; }
    MemoryTerms memory() const override { return m_memory; }
    Communicator& communicator() override { return m_communicator; }

    std::size_t buckets() const { return m_buckets ? m_buckets->count() : 0; }

protected:
    at::Tensor partOf(const at::Tensor& whole, std::size_t index) const override;

private:
    void makeBuckets(const DdpPlan& plan);
    void shareBuffers();
    void countFresh();

    Communicator& m_communicator;
    std::vector<at::Tensor> m_parameters;
    std::vector<std::vector<std::size_t>> m_ofUnit; ///< Indices into m_parameters.
    std::vector<std::size_t> m_trained; ///< Indices of those in the buckets.
    std::unique_ptr<GradientBuckets> m_buckets; ///< With more than one rank.
    std::vector<at::Tensor> m_modelBuffers; ///< Running statistics: rank 0's hold, as in DDP.
    MemoryTerms m_memory;
    NonfiniteTally m_nonfinite;
    bool m_sync = true;
    bool m_fresh = false; ///< Gradients came in that were not yet counted.
    bool m_buffersDiffer = false; ///< Each rank has seen its own batch since the last broadcast.
};

} // namespace mantissa
