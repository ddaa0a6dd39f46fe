#include "engine/recipe/class_object.h"

#include "engine/recipe/scalar.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace mantissa {

namespace {

constexpr std::array kAliases = {
    StrategyAlias{"ddp", "DDPStrategy"},
    StrategyAlias{"ddp_spawn", "DDPStrategy", "start_method", "spawn"},
    StrategyAlias{"ddp_fork", "DDPStrategy", "start_method", "fork"},
    StrategyAlias{"ddp_notebook", "DDPStrategy", "start_method", "fork"},
    StrategyAlias{"ddp_find_unused_parameters_true", "DDPStrategy", "find_unused_parameters", "true"},
    StrategyAlias{"ddp_find_unused_parameters_false", "DDPStrategy", "find_unused_parameters", "false"},
    StrategyAlias{"fsdp", "FSDPStrategy"},
    StrategyAlias{"fsdp_cpu_offload", "FSDPStrategy", "cpu_offload", "true"},
    StrategyAlias{"deepspeed", "DeepSpeedStrategy"},
    StrategyAlias{"deepspeed_stage_1", "DeepSpeedStrategy", "stage", "1"},
    StrategyAlias{"deepspeed_stage_2", "DeepSpeedStrategy", "stage", "2"},
    StrategyAlias{"deepspeed_stage_2_offload", "DeepSpeedStrategy", "offload_optimizer", "true"},
    StrategyAlias{"deepspeed_stage_3", "DeepSpeedStrategy", "stage", "3"},
    StrategyAlias{"single_device", "SingleDeviceStrategy"},
    StrategyAlias{"xla", "XLAStrategy"},
    StrategyAlias{"xla_fsdp", "XLAFSDPStrategy"},
    StrategyAlias{"zero1", "mantissa.Zero1"},
    StrategyAlias{"fsdp2", "ModelParallelStrategy", "tensor_parallel_size", "1"},
};

struct StrategyKindName {
    std::string_view kind;
    std::string_view className;
};

constexpr std::array kKinds = {
    StrategyKindName{"ddp", "DDPStrategy"},
    StrategyKindName{"fsdp", "FSDPStrategy"},
    StrategyKindName{"deepspeed", "DeepSpeedStrategy"},
    StrategyKindName{"model_parallel", "ModelParallelStrategy"},
    StrategyKindName{"single_device", "SingleDeviceStrategy"},
    StrategyKindName{"xla", "XLAStrategy"},
    StrategyKindName{"xla_fsdp", "XLAFSDPStrategy"},
    StrategyKindName{"zero1", "mantissa.Zero1"},
    StrategyKindName{"zero1", "Zero1"},
};

struct ClassPackage {
    std::string_view section;
    std::string_view suffix; ///< Of the class name; empty: any.
    std::string_view package;
};

constexpr std::array kPackages = {
    ClassPackage{"callbacks", "StopOnNaN", "mantissa."},
    ClassPackage{"callbacks", "HistogramCapture", "mantissa."},
    ClassPackage{"callbacks", "", "lightning.pytorch.callbacks."},
    ClassPackage{"plugins", "Precision", "lightning.pytorch.plugins.precision."},
    ClassPackage{"plugins", "CheckpointIO", "lightning.pytorch.plugins.io."},
    ClassPackage{"plugins", "Environment", "lightning.pytorch.plugins.environments."},
    ClassPackage{"plugins", "", "lightning.pytorch.plugins."},
    ClassPackage{"logger", "", "lightning.pytorch.loggers."},
    ClassPackage{"strategy", "", "lightning.pytorch.strategies."},
};

std::string lower(std::string_view text)
{
    std::string out(text);
    std::transform(out.begin(), out.end(), out.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return out;
}

} // namespace

std::span<const StrategyAlias> strategyAliases()
{
    return kAliases;
}

const StrategyAlias* strategyAlias(std::string_view name)
{
    const auto wanted = lower(name);
    const auto* found =
        std::find_if(kAliases.begin(), kAliases.end(), [&](const auto& a) { return a.name == wanted; });
    return found == kAliases.end() ? nullptr : found;
}

std::string strategyKind(const Value& strategy)
{
    const auto name = classOf(strategy);
    const auto* alias = strategyAlias(name);
    const std::string_view className = alias ? alias->className : std::string_view(name);
    for (const auto& entry : kKinds)
        if (entry.className == className)
            return std::string(entry.kind);
    return lower(name);
}

std::string_view strategyClass(std::string_view kind)
{
    for (const auto& entry : kKinds)
        if (entry.kind == kind)
            return entry.className;
    return {};
}

std::string classOf(const Value& object)
{
    const auto& path = object.isMap() ? object["class_path"] : object;
    return std::string(shortClassName(path.asString()));
}

const Value& argumentOf(const Value& object, std::string_view argument)
{
    return object["init_args"][argument];
}

Value objectOfName(std::string_view name)
{
    const auto* alias = strategyAlias(name);
    if (!alias)
        return ValueMap{{"class_path", Value(name)}};
    ValueMap object = {{"class_path", Value(fullClassPath("strategy", alias->className))}};
    if (!alias->argument.empty())
        object.emplace_back("init_args",
                            ValueMap{{std::string(alias->argument), resolveScalar(alias->value)}});
    return object;
}

std::string fullClassPath(std::string_view section, std::string_view className)
{
    if (className.find('.') != std::string_view::npos)
        return std::string(className);
    for (const auto& package : kPackages)
        if (package.section == section && className.ends_with(package.suffix))
            return std::string(package.package) + std::string(className);
    return std::string(className);
}

} // namespace mantissa
