#include "engine/train/trace_strategy.h"

#include <array>
#include <string_view>
#include <utility>

namespace mantissa {
namespace {

std::string shortDtype(const nlohmann::json& json)
{
    if (!json.is_string())
        return {};
    const auto name = json.get<std::string>();
    return name == "float32" ? "fp32" : name == "bfloat16" ? "bf16" : name == "float16" ? "fp16" : name;
}

/// Sharded runs have no autocast: the dtype of the gathered weights is the precision.
void readShardDtypes(const nlohmann::json& engine, RunPlan& plan)
{
    plan.autocast = false;
    plan.paramDtype = shortDtype(engine.value("param_dtype", nlohmann::json()));
    plan.reduceDtype = shortDtype(engine.value("reduce_dtype", nlohmann::json()));
    if (plan.reduceDtype.empty())
        plan.reduceDtype = plan.paramDtype;
    plan.precision = plan.paramDtype == "bf16" ? PrecisionMode::Bf16Mixed
        : plan.paramDtype == "fp16"            ? PrecisionMode::Fp16Mixed
                                               : PrecisionMode::Fp32True;
    if (!plan.paramDtype.empty() && plan.paramDtype != "fp32" && plan.paramDtype != "bf16"
        && plan.paramDtype != "fp16")
        throw TraceLack("the parameter dtype " + plan.paramDtype);
}

constexpr std::array<std::pair<std::string_view, Sharding>, 5> kShardings = {{
    {"FULL_SHARD", Sharding::Full},
    {"SHARD_GRAD_OP", Sharding::GradOp},
    {"NO_SHARD", Sharding::None},
    {"HYBRID_SHARD", Sharding::Hybrid},
    {"_HYBRID_SHARD_ZERO2", Sharding::HybridGradOp},
}};

Sharding shardingNamed(const std::string& name)
{
    for (const auto& [known, sharding] : kShardings) {
        if (known == name)
            return sharding;
    }
    throw TraceLack("the sharding strategy " + name);
}

} // namespace

void readShardedEngine(const nlohmann::json& engine, RunPlan& plan)
{
    const auto type = engine.at("type").get<std::string>();
    const nlohmann::json mesh = engine.value("mesh", nlohmann::json());
    plan.shards.replicas = mesh.is_array() ? mesh.at(0).get<int>() : 1;
    if (plan.shards.replicas < 1 || plan.ranks % plan.shards.replicas != 0)
        throw std::out_of_range("engine.mesh does not fit the world");
    if (type == "fsdp1") {
        plan.strategy = StrategyKind::Fsdp;
        plan.shards.sharding = shardingNamed(engine.at("strategy"));
    } else if (type == "fsdp2") {
        plan.strategy = StrategyKind::Fsdp2;
        const bool reshards = engine.value("reshard_after_forward", true);
        plan.shards.sharding = plan.shards.replicas > 1
            ? (reshards ? Sharding::Hybrid : Sharding::HybridGradOp)
            : (reshards ? Sharding::Full : Sharding::GradOp);
    } else {
        throw TraceLack("the strategy " + type);
    }
    readShardDtypes(engine, plan);
}

} // namespace mantissa
