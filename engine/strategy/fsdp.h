#pragma once

#include "engine/strategy/flat_unit.h"
#include "engine/strategy/strategy.h"

#include <deque>

namespace mantissa {

/// Full sharding: each rank keeps an equal part of every unit. A unit is gathered for its forward, given
/// back, gathered again for its backward and given back for good, while its gradients go to the ranks that
/// own them.
///
/// The root unit, entered first and left last in some models, stays gathered from the one to the other where
/// that costs little; else it is given back while the other units run.
class FsdpStrategy final : public Strategy {
public:
    FsdpStrategy(const Model& model, const std::vector<at::Tensor>& weights, FlatDtypes dtypes,
                 Communicator& communicator);

    std::vector<at::Tensor> enter(int unit) override;
    at::Tensor leave(int unit, const at::Tensor& output) override;

    const std::vector<at::Tensor>& parameters() const override { return m_parameters; }

    void setSync(bool sync) override { m_sync = sync; }
    void endOfBackward() override;
    std::int64_t takeNonfiniteBefore() override;
    void reduceGradients() override;
    void zeroGradients() override;
    void endOfStep() override;

    double sumOverShards(double partOfThisRank) override { return over(partOfThisRank, ReduceOp::Sum); }
    double maxOverShards(double partOfThisRank) override { return over(partOfThisRank, ReduceOp::Max); }

    NamedTensors fullParameters(bool wanted) override;
    NamedTensors fullState(const std::vector<at::Tensor>& perParameter, bool wanted) override;
    std::uint64_t peakParameterBytes() const override { return m_meter.peak(); }
    Communicator& communicator() override { return m_communicator; }

    bool keepsRoot() const { return m_keepsRoot; }
    int gathers() const;
    int reductions() const;

    // For the autograd functions.
    std::vector<at::Tensor> open(int unit);
    void reopen(int unit);
    void close(int unit, std::vector<at::Tensor>&& gradients);

protected:
    at::Tensor partOf(const at::Tensor& whole, std::size_t index) const override;

private:
    /// Where a parameter of the model lies.
    struct Place {
        int unit = 0;
        std::size_t weight = 0; ///< Within its unit.
    };

    FlatUnit& at(int unit) { return m_units[static_cast<std::size_t>(unit)]; }
    FlatUnit& root() { return m_units.back(); }
    int rootIndex() const { return static_cast<int>(m_units.size()) - 1; }
    bool rootWaits() const
    {
        return !m_keepsRoot && m_rootFirst;
    } ///< Entered, and given back while other units run.
    bool rootIsCheapToKeep() const;
    void makePieces();
    void forgetOutputs();
    double over(double part, ReduceOp op);
    /// A unit's shard put together from pieces that have the shapes of parameters().
    at::Tensor shardOf(int unit, const std::vector<at::Tensor>& perParameter);

    Communicator& m_communicator;
    ParameterMeter m_meter;
    std::deque<FlatUnit> m_units; ///< A deque: units do not move.
    std::vector<Place> m_places;
    std::vector<at::Tensor> m_parameters;
    std::vector<at::Tensor> m_gradients; ///< The pieces' gradients, for when a unit has some.
    std::vector<std::vector<at::Tensor>>
        m_outputs; ///< Of this forward pass, for a unit that is entered again.
    std::vector<bool> m_outputsWithGraph;
    bool m_keepsRoot = true;
    bool m_rootFirst = false; ///< In this forward pass the root was entered before a unit.
    bool m_sync = true;
};

} // namespace mantissa
