#pragma once

#include "engine/strategy/flat_unit.h"
#include "engine/strategy/strategy.h"

#include <deque>

namespace mantissa {

/// How a model is split.
struct ShardOptions {
    FlatDtypes dtypes;
    ShardPlan plan;
    bool stateOnly = false; ///< ZeRO-1: weights stay whole, the optimizer works on its part of them.
    bool keepsUnsynced =
        true; ///< GradOp: a backward pass without sync leaves the units whole (FSDP, not fsdp2).
    std::vector<std::string> frozen;
};

/// Each rank keeps an equal part of every unit. Full sharding gathers a unit for its forward, gives it back,
/// gathers it again for its backward and gives it back for good, while its gradients go to the ranks that
/// own them; other kinds keep it for longer, or split less.
///
/// The root unit, entered first and left last in some models, stays gathered from the one to the other where
/// that costs little; else it is given back while the other units run.
class ShardedStrategy final : public Strategy {
public:
    ShardedStrategy(const Model& model, const WeightSource& weights, ShardOptions options,
                    Communicator& communicator);

    std::vector<at::Tensor> enter(int block) override;
    at::Tensor leave(int block, const at::Tensor& output) override;
    at::Tensor run(int block, const at::Tensor& input, const UnitBody& body) override;

    const std::vector<at::Tensor>& parameters() const override { return m_parameters; }

    void setSync(bool sync) override { m_sync = sync; }
    void endOfBackward() override;
    NonfiniteTally takeNonfiniteBefore() override;
    void reduceGradients() override;
    void zeroGradients() override;
    void endOfStep() override;

    bool holdsParts() const override { return m_groups.shards() > 1; }
    int holders() const override { return m_groups.replicas(); }
    double sumOverShards(double partOfThisRank) override { return over(partOfThisRank, ReduceOp::Sum); }
    double maxOverShards(double partOfThisRank) override { return over(partOfThisRank, ReduceOp::Max); }

    NamedTensors fullParameters(bool wanted) override;
    NamedTensors fullState(const std::vector<at::Tensor>& perParameter, bool wanted) override;
    std::uint64_t peakParameterBytes() const override { return m_meter.parameters.peak(); }
    MemoryTerms memory() const override { return m_meter.terms(); }
    Communicator& communicator() override { return m_communicator; }

    bool keepsRoot() const { return m_keepsRoot; }
    int gathers() const;
    int reductions() const;

    // For the autograd functions.
    std::vector<at::Tensor> open(int unit);
    const FlatUnit& unit(int unit) const { return m_units[static_cast<std::size_t>(unit)]; }
    void reopen(int unit);
    void close(int unit, std::vector<at::Tensor>&& gradients);
    void closeFrozen(int unit);

protected:
    at::Tensor partOf(const at::Tensor& whole, std::size_t index) const override;

private:
    /// Where a parameter of the model lies.
    struct Place {
        int unit = 0;
        std::size_t weight = 0; ///< Within its unit.
    };
    /// What this forward pass has handed out of a unit, for one that is entered again.
    struct Given {
        std::vector<at::Tensor> weights;
        bool withGraph = false;
    };

    FlatUnit& at(int unit) { return m_units[static_cast<std::size_t>(unit)]; }
    FlatUnit& root() { return m_units.back(); }
    int rootIndex() const { return static_cast<int>(m_units.size()) - 1; }
    int unitOf(int block) const { return m_unitOf[static_cast<std::size_t>(block)]; }
    /// Entered, and given back while other units run.
    bool rootWaits() const { return !m_keepsRoot && m_rootFirst; }
    /// The last block before the root's upper part.
    bool isLastBlock(int block) const { return block == static_cast<int>(m_unitOf.size()) - 2; }

    void makeUnits(const Model& model);
    void fillUnits(const WeightSource& weights);
    void makePieces();
    void noteEntry(int unit);
    void gatherRootBelow(int unit); ///< What the root did below the first unit needs it again.
    bool givesBack() const { return m_reshards || m_sync || !m_options.keepsUnsynced; } ///< After backward.
    void gatherAhead(int unit, int direction);
    void forgetGiven();
    double over(double part, ReduceOp op);
    /// A unit's shard put together from pieces that have the shapes of parameters().
    at::Tensor shardOf(int unit, const std::vector<at::Tensor>& perParameter);
    at::Tensor gatherWhole(const at::Tensor& shard);

    ShardOptions m_options;
    Communicator& m_communicator;
    ShardGroups m_groups;
    MemoryMeter m_meter;
    std::deque<FlatUnit> m_units; ///< A deque: units do not move.
    std::vector<int> m_unitOf; ///< The unit of each block of the model.
    std::vector<std::vector<std::size_t>>
        m_weightsOf; ///< Of each block: where its weights stand in the unit.
    std::vector<Place> m_places;
    std::vector<at::Tensor> m_parameters;
    std::vector<at::Tensor> m_gradients; ///< The pieces' gradients, for when a unit has some.
    std::vector<Given> m_given; ///< Of each unit.
    std::vector<int> m_order; ///< Units in the order of the last forward pass, the root left out.
    std::vector<int> m_orderNow;
    bool m_reshards = false; ///< Units are given back after forward.
    bool m_keepsRoot = true;
    bool m_rootFirst = false; ///< In this forward pass the root was entered before a unit.
    bool m_backward = false;
    bool m_sync = true;
};

} // namespace mantissa
