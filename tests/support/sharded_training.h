#pragma once

#include "engine/strategy/recompute.h"
#include "engine/strategy/replica.h"
#include "engine/strategy/sharded.h"
#include "tests/support/rank_threads.h"
#include "tests/support/small_models.h"

#include <array>
#include <functional>
#include <map>

namespace mantissa {

enum class Kind { Replica, Fsdp, GradOp, NoShard, Hybrid, HybridGradOp, Fsdp2, Fsdp2Kept, Zero1 };

inline const char* nameOf(Kind kind)
{
    static constexpr std::array kNames = {"ddp",       "fsdp full",   "fsdp grad-op",
                                          "fsdp none", "fsdp hybrid", "fsdp hybrid grad-op",
                                          "fsdp2",     "fsdp2 kept",  "zero1"};
    return kNames[static_cast<std::size_t>(kind)];
}

inline constexpr std::array kKinds = {Kind::Replica, Kind::Fsdp,      Kind::GradOp,
                                      Kind::NoShard, Kind::Hybrid,    Kind::HybridGradOp,
                                      Kind::Fsdp2,   Kind::Fsdp2Kept, Kind::Zero1};

/// A training as the tests of strategies need it: plain SGD, with the joint batch split by rows.
struct SmallTraining {
    Kind kind = Kind::Replica;
    int ranks = 1;
    FlatDtypes dtypes;
    ShardPlan shards; ///< The kind decides on sharding and replicas.
    DdpPlan ddp;
    std::vector<std::string> frozen;
    bool recompute = false;
    std::function<std::unique_ptr<Model>()> model = [] {
        return std::make_unique<LayersModel>(std::vector<std::int64_t>{33, 50, 50, 5});
    };
    bool tokens = false;
    int steps = 20;
    int microBatches = 1;
    bool syncEach = false;
    double learningRate = 0.1;
    std::function<void(Strategy&, int step)> afterBackward = [](Strategy&, int) {};
    std::function<void(Strategy&, int step)> afterReduce = [](Strategy&, int) {};
};

struct SmallResult {
    std::map<std::string, at::Tensor> parameters;
    std::vector<double> losses; ///< Of rank 0's rows.
};

inline ShardOptions shardOptionsFor(const SmallTraining& training, int ranks)
{
    ShardOptions options{training.dtypes, training.shards, training.kind == Kind::Zero1, true,
                         training.frozen};
    options.keepsUnsynced = training.kind != Kind::Fsdp2 && training.kind != Kind::Fsdp2Kept;
    const bool hybrid = training.kind == Kind::Hybrid || training.kind == Kind::HybridGradOp;
    options.plan.sharding = training.kind == Kind::GradOp || training.kind == Kind::Fsdp2Kept
        ? Sharding::GradOp
        : training.kind == Kind::NoShard      ? Sharding::None
        : training.kind == Kind::Hybrid       ? Sharding::Hybrid
        : training.kind == Kind::HybridGradOp ? Sharding::HybridGradOp
                                              : Sharding::Full;
    options.plan.replicas = hybrid && ranks % 2 == 0 ? 2 : 1;
    return options;
}

inline std::unique_ptr<Strategy> strategyFor(const SmallTraining& training, const Model& model,
                                             Communicator& comm)
{
    const auto weights = drawnWeights(model, 7);
    const WeightSource source = [&](std::size_t index) { return weights[index]; };
    if (training.kind == Kind::Replica)
        return std::make_unique<ReplicaStrategy>(
            model, source, ReplicaOptions{training.dtypes.stored, training.ddp, training.frozen}, comm);
    return std::make_unique<ShardedStrategy>(model, source, shardOptionsFor(training, comm.size()), comm);
}

inline Batch smallBatch(const SmallTraining& training, const Model& model, int index,
                        const Communicator& comm)
{
    auto generator = seeded(1000 + static_cast<std::uint64_t>(index));
    constexpr std::int64_t kRows = 16;
    const auto& shape = model.parameters().front().shape;
    const auto input = training.tokens ? at::randint(shape[0], {kRows}, generator, at::kLong)
                                       : at::randn({kRows, shape[1]}, generator);
    const auto target = at::randint(5, {kRows}, generator, at::kLong);
    const std::int64_t own = kRows / comm.size();
    return {input.narrow(0, own * comm.rank(), own), target.narrow(0, own * comm.rank(), own)};
}

inline double trainStep(const SmallTraining& training, Strategy& strategy, Model& model, int step)
{
    auto& comm = strategy.communicator();
    Recompute recompute(strategy, model);
    WeightAccess* weights = training.recompute ? static_cast<WeightAccess*>(&recompute) : &strategy;
    double loss = 0.0;
    for (int micro = 0; micro < training.microBatches; ++micro) {
        strategy.setSync(training.syncEach || micro + 1 == training.microBatches);
        const auto batch = smallBatch(training, model, step * training.microBatches + micro, comm);
        const auto input = training.tokens ? batch.input : batch.input.to(training.dtypes.param);
        const auto logits = model.forward(input, *weights, true).to(at::kFloat);
        const auto part = at::cross_entropy_loss(logits, batch.target) / training.microBatches;
        loss += part.item<double>();
        torch::autograd::backward({part}, {});
        strategy.endOfBackward();
    }
    training.afterBackward(strategy, step);
    strategy.reduceGradients();
    training.afterReduce(strategy, step);
    const at::NoGradGuard noGrad;
    for (auto parameter : strategy.parameters()) {
        if (parameter.grad().defined())
            parameter.sub_(parameter.grad(), training.learningRate);
    }
    strategy.zeroGradients();
    strategy.endOfStep();
    return loss;
}

inline SmallResult train(const SmallTraining& training)
{
    SmallResult result;
    runRanks(training.ranks, [&](Communicator& comm) {
        const auto model = training.model();
        const auto strategy = strategyFor(training, *model, comm);
        for (int step = 0; step < training.steps; ++step) {
            const double loss = trainStep(training, *strategy, *model, step);
            if (comm.rank() == 0)
                result.losses.push_back(loss);
        }
        auto whole = strategy->fullParameters(comm.rank() == 0);
        for (auto& [name, tensor] : whole)
            result.parameters.emplace(name, std::move(tensor));
    });
    return result;
}

/// Largest |a - b| / max(|b|, the tensor's root mean square) over all elements.
inline double largestRelativeDifference(const SmallResult& a, const SmallResult& b)
{
    double largest = 0.0;
    for (const auto& [name, reference] : b.parameters) {
        const auto wanted = reference.to(at::kDouble);
        const auto scale = wanted.abs().clamp_min(wanted.square().mean().sqrt().item<double>());
        largest = std::max(
            largest, ((a.parameters.at(name).to(at::kDouble) - wanted).abs() / scale).max().item<double>());
    }
    return largest;
}

inline bool sameBits(const SmallResult& a, const SmallResult& b)
{
    if (a.losses != b.losses || a.parameters.size() != b.parameters.size())
        return false;
    for (const auto& [name, tensor] : a.parameters) {
        if (!at::equal(tensor, b.parameters.at(name)))
            return false;
    }
    return true;
}

} // namespace mantissa
