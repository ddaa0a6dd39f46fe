#pragma once

#include "engine/checkpoint/safetensors.h"
#include "engine/comm/communicator.h"
#include "engine/model/model.h"
#include "engine/recipe/memory_estimate.h"
#include "engine/recipe/run_plan.h"
#include "engine/strategy/nonfinite.h"
#include "engine/strategy/weight_source.h"
#include "engine/tensor/torch.h"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace mantissa {

/// Where the weights of a rank live, and how its gradients become everybody's. One object per rank.
///
/// Order of a step: beginWindow · for each micro batch: (sync on the last, or each) forward through
/// weights(), backward, endOfBackward · reduceGradients · the optimizer works on parameters() · endOfStep.
class Strategy : public WeightAccess {
public:
    explicit Strategy(const std::vector<ParameterSpec>& weights);

    /// The tensors that the optimizer updates on this rank, with their gradients in .grad(): whole weights,
    /// or this rank's one-dimensional pieces of them (empty ones included, so that all ranks have the same
    /// list).
    virtual const std::vector<at::Tensor>& parameters() const = 0;
    const std::vector<std::string>& parameterNames() const { return m_names; }

    /// Whether the next backward is followed by a reduction.
    virtual void setSync(bool sync) = 0;
    /// After backward() returned.
    virtual void endOfBackward() = 0;
    /// Gradients of this rank alone that are Inf or NaN, over the window so far, before any reduction.
    virtual NonfiniteTally takeNonfiniteBefore() = 0;
    /// Ends the reduction: afterwards parameters()[i].grad() is the mean over ranks (its own part under
    /// sharding).
    virtual void reduceGradients() = 0;
    virtual void zeroGradients() = 0;
    virtual void endOfStep() = 0;

    /// parameters() are parts of the weights, and their gradients parts of the gradients.
    virtual bool holdsParts() const = 0;
    virtual int holders() const = 0; ///< Ranks that hold the same as this one, itself included.
    /// Over the parts that make a whole: for norms, whatever the strategy.
    virtual double sumOverShards(double partOfThisRank) = 0;
    virtual double maxOverShards(double partOfThisRank) = 0;

    /// Whole weights by name, fp32 or the parameter's own dtype, on every rank that `wanted`. A collective:
    /// all ranks call it.
    virtual NamedTensors fullParameters(bool wanted) = 0;
    /// The same for a state of the optimizer that has the shapes of parameters().
    virtual NamedTensors fullState(const std::vector<at::Tensor>& perParameter, bool wanted) = 0;

    /// The way back: this rank's part of whole tensors, in the order of parameters(), whatever strategy and
    /// world size they come from. Undefined where `whole` lacks the name; throws where the shape is another.
    std::vector<at::Tensor> partsOf(const NamedTensors& whole) const;
    /// Puts whole weights, all of them, in the place of the present ones. A collective.
    void loadParameters(const NamedTensors& whole);

    virtual MemoryTerms memory() const = 0; ///< Measured so far; the optimizer's state left out.
    /// Most bytes of parameters (shards and gathered units) that were alive at once on this rank.
    virtual std::uint64_t peakParameterBytes() const = 0;

    virtual Communicator& communicator() = 0;

protected:
    /// What parameters()[index] holds of its whole tensor; may share its memory.
    virtual at::Tensor partOf(const at::Tensor& whole, std::size_t index) const = 0;

private:
    std::vector<std::string> m_names;
    std::vector<std::vector<std::int64_t>> m_shapes; ///< Of the whole weights.
};

/// `weights` gives the same values on every rank.
std::unique_ptr<Strategy> makeStrategy(const RunPlan& plan, const Model& model, const WeightSource& weights,
                                       Communicator& communicator);

} // namespace mantissa
