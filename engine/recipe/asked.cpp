#include "engine/recipe/asked.h"

#include "engine/recipe/class_object.h"
#include "engine/recipe/fields.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace mantissa {

namespace {

struct Alias {
    std::string_view written;
    std::string_view meant;
};

constexpr std::array kPrecisionAliases = {
    Alias{"16", "16-mixed"},
    Alias{"bf16", "bf16-mixed"},
    Alias{"32", "32-true"},
    Alias{"64", "64-true"},
};

constexpr std::array kDtypes = {
    Alias{"float32", "fp32"}, Alias{"float", "fp32"}, Alias{"fp32", "fp32"},     Alias{"float16", "fp16"},
    Alias{"half", "fp16"},    Alias{"fp16", "fp16"},  Alias{"bfloat16", "bf16"}, Alias{"bf16", "bf16"},
};

struct ShardingName {
    std::string_view name;
    Sharding sharding;
};

constexpr std::array kShardings = {
    ShardingName{"FULL_SHARD", Sharding::Full},
    ShardingName{"SHARD_GRAD_OP", Sharding::GradOp},
    ShardingName{"NO_SHARD", Sharding::None},
    ShardingName{"HYBRID_SHARD", Sharding::Hybrid},
    ShardingName{"_HYBRID_SHARD_ZERO2", Sharding::HybridGradOp},
};

/// Drawings and estimates follow what is written no further than this.
constexpr std::int64_t kMostReadRanks = 1024;

bool isHybrid(Sharding sharding)
{
    return sharding == Sharding::Hybrid || sharding == Sharding::HybridGradOp;
}

bool wrapsBySize(const Value& policy)
{
    return classOf(policy) == "size_based_auto_wrap_policy";
}

template <typename Table>
std::string_view meant(const Table& table, std::string_view written)
{
    const auto found =
        std::find_if(table.begin(), table.end(), [&](const auto& a) { return a.written == written; });
    return found == table.end() ? std::string_view{} : found->meant;
}

const Value& fieldOfScaler(const Setup& setup, std::string_view name)
{
    static constexpr std::array kFields = {&field::scalerInitScale, &field::scalerGrowthFactor,
                                           &field::scalerBackoffFactor, &field::scalerGrowthInterval};
    static const Value kAbsent;
    for (const auto* field : kFields)
        if (field->path.ends_with(name))
            return setup[*field];
    return kAbsent;
}

} // namespace

Value precisionPlugin(const Setup& setup)
{
    const auto& plugins = setup[field::plugins];
    for (const auto& plugin : plugins.asEntries())
        if (classOf(plugin).ends_with("Precision"))
            return plugin;
    return setup[field::strategyPrecisionPlugin].isMap() ? setup[field::strategyPrecisionPlugin] : Value();
}

std::string longPrecisionName(const std::string& written)
{
    const auto full = meant(kPrecisionAliases, written);
    return full.empty() ? written : std::string(full);
}

bool emulatesFp8(std::string_view precision)
{
    return precision == precisionId(PrecisionMode::Fp8Mixed);
}

std::string precisionName(const Setup& setup)
{
    const auto plugin = precisionPlugin(setup);
    const auto& given = argumentOf(plugin, "precision");
    const auto value = given.isSet() ? given : setup.effective(field::precision);
    return longPrecisionName(value.isString() ? value.asString() : value.text());
}

std::string strategyAsked(const Setup& setup)
{
    const auto kind = strategyKind(setup.effective(field::strategy));
    if (kind == "auto" || kind.empty())
        return ranksHere(setup) > 1 ? "ddp" : "single_device";
    return kind;
}

bool shardsWeights(const Setup& setup)
{
    const auto kind = strategyAsked(setup);
    return kind == "fsdp" || kind == "model_parallel" || kind == "xla_fsdp";
}

ShardPlan shardsAsked(const Setup& setup)
{
    ShardPlan shards;
    const bool fsdp2 = strategyAsked(setup) == "model_parallel";
    const auto& mesh = setup[fsdp2 ? field::shardMesh : field::fsdpDeviceMesh].asList();
    const auto groups = mesh.size() == 2 ? mesh.front().asInteger(1) : 1;
    if (fsdp2) {
        const bool reshards = setup.effective(field::shardReshard).asBool(true);
        shards.sharding = groups > 1 ? (reshards ? Sharding::Hybrid : Sharding::HybridGradOp)
                                     : (reshards ? Sharding::Full : Sharding::GradOp);
        shards.castInputs = setup.effective(field::shardCastInputs).asBool(true);
        shards.outputDtype = dtypeName(setup[field::shardOutputDtype].asString());
    } else {
        const auto name = setup.effective(field::fsdpShardingStrategy).asString();
        for (const auto& entry : kShardings)
            if (entry.name == name)
                shards.sharding = entry.sharding;
        shards.forwardAhead = setup.effective(field::fsdpForwardPrefetch).asBool();
        shards.limitAhead = setup.effective(field::fsdpLimitAllGathers).asBool(true);
        const auto ahead = setup[field::fsdpBackwardPrefetch].asString();
        shards.ahead = ahead == "BACKWARD_PRE" ? GatherAhead::Pre
            : ahead == "BACKWARD_POST"         ? GatherAhead::Post
                                               : GatherAhead::None;
    }
    if (isHybrid(shards.sharding))
        shards.replicas = static_cast<int>(std::clamp<std::int64_t>(groups, 1, ranksHere(setup)));
    const auto wrap = setup.effective(field::shardWrap).asString();
    const bool bySize = wrap == "size" || wrapsBySize(setup[field::fsdpAutoWrapPolicy]);
    shards.wrap = wrap == "whole" ? UnitWrap::Whole : bySize ? UnitWrap::Size : UnitWrap::Block;
    shards.leastUnit = setup.effective(field::shardLeastUnit).asInteger(shards.leastUnit);
    return shards;
}

int partsAsked(const Setup& setup)
{
    if (strategyAsked(setup) == "zero1")
        return ranksHere(setup);
    if (!shardsWeights(setup))
        return 1;
    const auto shards = shardsAsked(setup);
    return shards.sharding == Sharding::None ? 1 : std::max(1, ranksHere(setup) / shards.replicas);
}

std::vector<std::string> frozenAsked(const Setup& setup)
{
    const auto& written = setup[field::frozen];
    std::vector<std::string> names;
    for (const auto& name : written.asEntries())
        if (!name.asString().empty())
            names.push_back(name.asString());
    return names;
}

bool recomputes(const Setup& setup)
{
    const auto asks = [&](const Field& policy) {
        const auto& value = setup[policy];
        return value.isSet() && value != Value(false) && !(value.isList() && value.asList().empty());
    };
    return setup.effective(field::recompute).asBool() || asks(field::fsdpActivationCheckpointing)
        || asks(field::fsdpActivationCheckpointingPolicy);
}

bool bringsOptimizers(const Setup& setup)
{
    return setup[field::modelClass].asString() == "mantissa.GAN";
}

std::vector<ImpliedFact> impliedFacts(const Setup& setup)
{
    if (!bringsOptimizers(setup))
        return {};
    return {{std::string(field::automaticOptimization.path), "false",
             "mantissa.GAN calls backward and step itself, for each of its two networks."},
            {std::string(field::numOptimizers.path), "2",
             "mantissa.GAN has an optimizer for its discriminator and one for its generator."}};
}

std::int64_t ranksAsked(const Setup& setup)
{
    const auto& own = setup[field::ranks];
    const auto& devices = own.isSet() ? own : setup[field::devices];
    auto ranks = devices.isList() ? static_cast<std::int64_t>(devices.asList().size()) : devices.asInteger(1);
    if (const auto text = devices.asString(); !text.empty())
        std::from_chars(text.data(), text.data() + text.size(), ranks);
    return ranks == -1 && !own.isSet() ? 1 : ranks; // -1: all devices there are.
}

int ranksHere(const Setup& setup)
{
    return static_cast<int>(std::clamp<std::int64_t>(ranksAsked(setup), 1, kMostReadRanks));
}

std::string frameworkOf(const Setup& setup)
{
    const auto& target = setup[field::target];
    const auto name =
        target.isMap() ? target["framework"].asString("trainer") : setup.effective(field::target).asString();
    for (const std::string_view framework : {"fabric", "mantissa"})
        if (name.starts_with(framework))
            return std::string(framework);
    return "trainer";
}

ClipAsked clipAsked(const Setup& setup)
{
    ClipAsked clip;
    clip.normType = setup.effective(field::normType).asDouble(2.0);
    const auto ask = [&](const Field& field, ClipKind kind) {
        const auto value = setup[field].asDouble();
        if (clip.kind == ClipKind::None && value > 0.0) {
            clip.kind = kind;
            clip.value = value;
            clip.path = field.path;
        }
    };
    const auto trainer = [&] {
        const bool byValue = setup.effective(field::clipAlgorithm).asString() == "value";
        ask(field::clipValue, byValue ? ClipKind::Value : ClipKind::Norm);
    };
    if (frameworkOf(setup) != "fabric")
        trainer();
    ask(field::fabricMaxNorm, ClipKind::Norm);
    ask(field::fabricClipValue, ClipKind::Value);
    trainer();
    return clip;
}

std::map<std::int64_t, std::int64_t> accumulationAsked(const Setup& setup)
{
    std::map<std::int64_t, std::int64_t> batches = {
        {0, std::max<std::int64_t>(1, setup.effective(field::accumulate).asInteger(1))}};
    for (const auto& [from, count] : setup[field::accumulationSchedule].asMap()) {
        std::int64_t epoch = -1;
        std::from_chars(from.data(), from.data() + from.size(), epoch);
        if (epoch >= 0 && count.asInteger() >= 1)
            batches[epoch] = count.asInteger();
    }
    return batches;
}

bool unscalesItself(const Setup& setup)
{
    const auto& said = setup[field::selfUnscaling];
    if (said.isBool())
        return said.asBool();
    return setup.effective(field::fused).asBool()
        || setup[field::optimizerClass].asString() == "SelfUnscaling";
}

bool usesScaler(const Setup& setup)
{
    const auto& own = setup[field::scalerEnabled];
    const Value plugin = precisionPlugin(setup);
    const auto& given = argumentOf(argumentOf(plugin, "scaler"), "enabled");
    return precisionName(setup) == "16-mixed" && (own.isBool() ? own : given).asBool(true);
}

bool unscalesExplicitly(const Setup& setup)
{
    if (!usesScaler(setup))
        return false;
    // The Trainer leaves unscaling to such an optimizer, and refuses at clipping.
    const bool asTrainer =
        setup.effective(field::mode).asString() == "faithful" && frameworkOf(setup) == "trainer";
    const bool clips = clipAsked(setup).kind != ClipKind::None && !asTrainer;
    return clips || !unscalesItself(setup) || setup.effective(field::explicitUnscale).asBool();
}

double scalerSetting(const Setup& setup, std::string_view name)
{
    const auto& own = fieldOfScaler(setup, name);
    const Value plugin = precisionPlugin(setup);
    const auto& given = argumentOf(argumentOf(plugin, "scaler"), name);
    if (own.isNumber() || given.isNumber())
        return own.isNumber() ? own.asDouble() : given.asDouble();
    const auto* field = fieldAt("mantissa.scaler." + std::string(name));
    return field ? field->defaultValue().asDouble() : 0.0;
}

std::string dtypeName(std::string_view written)
{
    return std::string(meant(kDtypes, shortClassName(written)));
}

} // namespace mantissa
