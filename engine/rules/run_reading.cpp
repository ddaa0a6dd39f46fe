#include "engine/rules/run_reading.h"

#include "engine/recipe/fields.h"

#include <algorithm>
#include <charconv>

namespace mantissa {
namespace {

bool isZeroNumber(const Value& value)
{
    return value.isNumber() && value.asDouble() == 0.0;
}

/// "4" is a count; "0,1" and "2," are lists.
std::optional<std::int64_t> countOfText(const std::string& text)
{
    if (text.find(',') != std::string::npos) {
        std::int64_t ids = 0;
        for (std::size_t at = 0; at < text.size(); ++at)
            ids += text[at] != ',' && (at == 0 || text[at - 1] == ',') ? 1 : 0;
        return ids;
    }
    std::int64_t count = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
    return error == std::errc() && end == text.data() + text.size() ? std::optional(count) : std::nullopt;
}

std::optional<std::int64_t> devicesOfCpu(const Value& devices)
{
    if (devices.isInteger() && devices.asInteger() > 0)
        return devices.asInteger();
    if (!devices.isSet() || devices.asString() == "auto")
        return 1;
    return devices.isString() ? countOfText(devices.asString()) : std::nullopt;
}

std::optional<std::int64_t> devicesOfGpu(const RuleContext& context, const Value& devices)
{
    if (devices.isList())
        return static_cast<std::int64_t>(devices.asList().size());
    const auto count = devices.isString() ? countOfText(devices.asString())
        : devices.isInteger()             ? std::optional(devices.asInteger())
                                          : std::nullopt;
    if (count && *count >= 0)
        return count;
    return visibleGpus(context); // auto, -1 or nothing: all of them.
}

std::int64_t ceiling(std::int64_t value, std::int64_t divisor)
{
    return (value + divisor - 1) / divisor;
}

} // namespace

const Value& factAt(const RuleContext& context, std::string_view name)
{
    return context.at("mantissa.facts." + std::string(name));
}

const Value& strategyArgument(const RuleContext& context, std::string_view name)
{
    return context.at(field::strategy)["init_args"][name];
}

bool isCalled(const RuleContext& context)
{
    return context.at(field::runFn).asString() != "construct";
}

bool isFastDevRun(const RuleContext& context)
{
    const Value& value = context.at(field::fastDevRun);
    return value.asBool() || value.asInteger() > 0;
}

bool isOverfitting(const RuleContext& context)
{
    return context.at(field::overfitBatches).asDouble() > 0.0;
}

bool validatesInFit(RuleContext& context)
{
    const bool switchedOff =
        isZeroNumber(context.at(field::limitValBatches)) && !isOverfitting(context) && !isFastDevRun(context);
    const auto& omitted = factAt(context, "omits").asList();
    const bool noStep = std::any_of(omitted.begin(), omitted.end(),
                                    [](const Value& hook) { return hook.asString() == "validation_step"; });
    return startsLoop(context) && !switchedOff && !noStep
        && context.fact(field::hasValLoader.path, true, "There is a validation loader.");
}

bool isParallel(const RuleContext& context)
{
    const StrategyReading strategy = readStrategy(context);
    switch (strategy.family) {
    case StrategyFamily::Single:
        return false;
    case StrategyFamily::Other:
        return strategy.name.starts_with("xla") || strategy.name == "XLAStrategy"
            || strategy.name == "XLAFSDPStrategy";
    default:
        return true;
    }
}

bool startsByForkOrSpawn(const RuleContext& context)
{
    const StrategyReading strategy = readStrategy(context);
    if (strategy.family != StrategyFamily::Ddp)
        return false;
    const std::string method = strategyArgument(context, "start_method").asString();
    return strategy.name.starts_with("ddp_spawn") || strategy.name.starts_with("ddp_fork")
        || strategy.name.starts_with("ddp_notebook") || method == "spawn" || method == "fork"
        || method == "forkserver";
}

std::optional<std::int64_t> visibleGpus(const RuleContext& context)
{
    const Target& target = context.target();
    if (!target.gpus)
        return std::nullopt;
    return *target.gpus / std::max(1, target.nodes.value_or(1));
}

std::optional<std::int64_t> processCount(RuleContext& context)
{
    if (!isParallel(context))
        return 1;
    const Value& devices = context.at(field::devices);
    const auto local =
        readDevice(context) == DeviceKind::Cpu ? devicesOfCpu(devices) : devicesOfGpu(context, devices);
    if (!local)
        return std::nullopt;
    return *local * std::max<std::int64_t>(1, context.at(field::numNodes).asInteger(1));
}

bool hasPackage(RuleContext& context, std::string_view package)
{
    const auto& packages = context.target().packages;
    if (packages)
        return std::find(packages->begin(), packages->end(), package) != packages->end();
    context.assume(field::envPackages.path, "The target has the Python packages that the set-up asks for.");
    return true;
}

bool isStream(RuleContext& context)
{
    return context.at(field::dataIterable).asBool() && !factAt(context, "data.iterable_has_len").asBool();
}

std::optional<std::int64_t> loaderBatches(RuleContext& context)
{
    const Value& length = context.at(field::dataLength);
    const Value& batch = factAt(context, "data.batch_size");
    if (!length.isInteger() || !batch.isInteger() || batch.asInteger() < 1 || isStream(context))
        return std::nullopt;
    const bool divided = isParallel(context) && context.at(field::useDistributedSampler).asBool(true)
        && !context.at(field::dataIterable).asBool();
    const auto processes = divided ? processCount(context) : 1;
    if (!processes || *processes < 1)
        return std::nullopt;
    const std::int64_t samples = ceiling(length.asInteger(), *processes);
    return factAt(context, "data.drop_last").asBool() ? samples / batch.asInteger()
                                                      : ceiling(samples, batch.asInteger());
}

} // namespace mantissa
