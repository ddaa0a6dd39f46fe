#include "tests/bench/bench_case.h"

#include <array>
#include <stdexcept>
#include <string_view>
#include <utility>

namespace mantissa::bench {
namespace {

constexpr std::int64_t kTinyBatch = 16;
constexpr std::int64_t kDistinctBatches = 8;

template <typename Value, std::size_t N>
Value named(const std::array<std::pair<std::string_view, Value>, N>& table, const std::string& name)
{
    for (const auto& [key, value] : table) {
        if (key == name)
            return value;
    }
    throw std::invalid_argument("there is no \"" + name + "\"");
}

struct Sharing {
    StrategyKind strategy;
    Sharding sharding = Sharding::Full;
};

constexpr std::array<std::pair<std::string_view, Sharing>, 8> kStrategies = {{
    {"single", {StrategyKind::Single}},
    {"ddp", {StrategyKind::Ddp}},
    {"zero1", {StrategyKind::Zero1}},
    {"fsdp_full", {StrategyKind::Fsdp}},
    {"fsdp_grad_op", {StrategyKind::Fsdp, Sharding::GradOp}},
    {"fsdp_none", {StrategyKind::Fsdp, Sharding::None}},
    {"fsdp_hybrid", {StrategyKind::Fsdp, Sharding::Hybrid}},
    {"fsdp2", {StrategyKind::Fsdp2}},
}};

constexpr std::array<std::pair<std::string_view, OptimizerImpl>, 4> kImpls = {{
    {"forloop", OptimizerImpl::ForLoop},
    {"loop", OptimizerImpl::ForLoop},
    {"foreach", OptimizerImpl::Foreach},
    {"fused", OptimizerImpl::Fused},
}};

void setModel(RunPlan& plan, const BenchCase& bench)
{
    std::int64_t rows = 0;
    SyntheticPlan data;
    if (bench.model == "gpt") {
        TransformerPlan model;
        model.vocab = bench.vocab;
        model.context = bench.context;
        model.width = bench.width;
        model.heads = bench.heads;
        model.layers = bench.layers;
        plan.model = model;
        data = {"tokens", bench.context, bench.vocab, 0};
        rows = bench.batch;
    } else if (bench.model == "mlp4") {
        plan.model = MlpPlan{bench.mlpWidth, bench.mlpWidth, 10, 5};
        data = {"vectors", bench.mlpWidth, 10, 0};
        rows = bench.mlpBatch;
    } else if (bench.model == "mlp") {
        plan.model = MlpPlan{64, 128, 10, 3};
        data = {"vectors", 64, 10, 0};
        rows = kTinyBatch;
    } else {
        throw std::invalid_argument("there is no model \"" + bench.model + "\"");
    }
    if (rows % plan.ranks != 0)
        throw std::invalid_argument("a joint batch of " + std::to_string(rows) + " cannot be split over "
                                    + std::to_string(plan.ranks) + " ranks");
    data.samples = rows * kDistinctBatches;
    plan.data = data;
    plan.batchSize = rows / plan.ranks;
}

} // namespace

RunPlan planOf(const BenchCase& bench)
{
    RunPlan plan;
    const auto precision = precisionWithId(bench.precision);
    if (!precision)
        throw std::invalid_argument("there is no precision \"" + bench.precision + "\"");
    plan.precision = *precision;
    plan.scaler.enabled = bench.precision == "16-mixed";
    const Sharing sharing = named(kStrategies, bench.what);
    plan.strategy = sharing.strategy;
    plan.shards.sharding = sharing.sharding;
    plan.shards.replicas = sharing.sharding == Sharding::Hybrid ? 2 : 1;
    plan.ranks = plan.strategy == StrategyKind::Single ? 1 : bench.ranks;
    plan.threadsPerRank = bench.threads;
    plan.optimizer.impl = named(kImpls, bench.impl);
    plan.optimizer.learningRate = 1e-6;
    plan.optimizer.weightDecay = 0.01;
    plan.maxEpochs = std::int64_t{1} << 40;
    plan.checkpoints.atEnd = false;
    setModel(plan, bench);
    return plan;
}

} // namespace mantissa::bench
