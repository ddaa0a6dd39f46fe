#pragma once

#include "engine/strategy/strategy.h"

namespace mantissa {

/// Whole weights on every rank. With more than one rank the gradients live in one flat buffer, which is
/// averaged once for a window, or once for each micro batch that syncs. With one rank nothing travels and
/// nothing is copied.
class ReplicaStrategy final : public Strategy {
public:
    ReplicaStrategy(const Model& model, const std::vector<at::Tensor>& weights, at::ScalarType stored,
                    Communicator& communicator);

    std::vector<at::Tensor> enter(int unit) override;
    at::Tensor leave(int unit, const at::Tensor& output) override;

    const std::vector<at::Tensor>& parameters() const override { return m_parameters; }

    void setSync(bool sync) override;
    void endOfBackward() override;
    std::int64_t takeNonfiniteBefore() override;
    void reduceGradients() override;
    void zeroGradients() override;
    void endOfStep() override {}

    double sumOverShards(double partOfThisRank) override { return partOfThisRank; }
    double maxOverShards(double partOfThisRank) override { return partOfThisRank; }

    NamedTensors fullParameters(bool wanted) override;
    NamedTensors fullState(const std::vector<at::Tensor>& perParameter, bool wanted) override;
    std::uint64_t peakParameterBytes() const override { return m_bytes; }
    Communicator& communicator() override { return m_communicator; }

protected:
    at::Tensor partOf(const at::Tensor& whole, std::size_t index) const override;

private:
    bool alone() const { return m_communicator.size() == 1; }
    void makeFlatGradients(at::ScalarType stored);
    void shareBuffers();
    void countFresh();
    void average();

    Communicator& m_communicator;
    std::vector<at::Tensor> m_parameters;
    std::vector<std::vector<std::size_t>> m_ofUnit; ///< Indices into m_parameters.
    std::vector<at::Tensor> m_buffers; ///< Running statistics: rank 0's hold, as in DDP.
    at::Tensor m_flat; ///< The gradients are views of it.
    at::Tensor m_averaged; ///< What earlier micro batches of the window have already averaged.
    std::uint64_t m_bytes = 0;
    std::int64_t m_nonfinite = 0;
    bool m_sync = true;
    bool m_fresh = false; ///< Gradients came in that were not yet counted.
    bool m_pending = false; ///< A backward pass that syncs has ended, its reduction has not begun.
    bool m_buffersDiffer = false; ///< Each rank has seen its own batch since the last broadcast.
};

} // namespace mantissa
