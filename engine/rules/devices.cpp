#include "engine/recipe/fields.h"
#include "engine/rules/making.h"
#include "engine/rules/run_reading.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <set>
#include <vector>

namespace mantissa {
namespace {

constexpr std::string_view kConnector = "src/lightning/pytorch/trainer/connectors/accelerator_connector.py, ";
constexpr std::string_view kParser = "src/lightning/fabric/utilities/device_parser.py, ";

FindingSource inConnector(std::string_view function)
{
    return inLightning(std::string(kConnector) + std::string(function));
}

FindingSource inParser(std::string_view function)
{
    return inLightning(std::string(kParser) + std::string(function));
}

void acceleratorUnknown(RuleContext& context)
{
    const Value& value = context.at(field::accelerator);
    const std::string name = value.asString();
    const bool isObject = name.find('.') != std::string::npos || name.ends_with("Accelerator");
    constexpr std::array<std::string_view, 6> kNames = {"auto", "gpu", "cuda", "mps", "tpu", "cpu"};
    if (!value.isString() || isObject || std::find(kNames.begin(), kNames.end(), name) != kNames.end())
        return;
    Finding finding = findingAt(Severity::WontStart, Stage::Configure, {field::accelerator.path});
    finding.message = "There is no accelerator \"" + name + "\".";
    finding.why =
        "It is one of auto, gpu, cuda, mps, tpu and cpu, in small letters, or a name that another package "
        "has registered. HPU support has left the package.";
    finding.source = inConnector("_check_config_and_set_final_flags");
    finding.engine = "same";
    finding.raises = "ValueError: You selected an invalid accelerator name: `accelerator='" + name + "'`.";
    finding.fixes = {changingFix("Take what the machine has", {setTo(field::accelerator.path, "auto")}),
                     changingFix("Run on the CPU", {setTo(field::accelerator.path, "cpu")})};
    context.report(std::move(finding));
}

void mpsUnavailable(RuleContext& context)
{
    const std::string name = classOf(context.at(field::accelerator));
    if (name != "mps" && name != "MPSAccelerator")
        return;
    const Value& available = factAt(context, "env.mps_available");
    const bool isKnown = available.isBool() || context.target().gpus.has_value();
    if (!isKnown)
        context.assume(field::accelerator.path, "The target has the GPUs that the set-up asks for.");
    if (!isKnown || available.asBool() || (!available.isBool() && context.target().os != "linux"))
        return;
    Finding finding = findingAt(Severity::WontStart, Stage::Configure, {field::accelerator.path});
    finding.message =
        "accelerator=" + name + " asks for an Apple GPU, and the target runs " + context.target().os + ".";
    finding.why = "MPS is Apple's; torch offers it under macOS alone.";
    finding.source = inConnector("_set_parallel_devices_and_init_accelerator");
    finding.engine = "cannot";
    finding.raises =
        "MisconfigurationException: `MPSAccelerator` can not run on your system since the accelerator "
        "is not available.";
    finding.fixes = {changingFix("Take what the machine has", {setTo(field::accelerator.path, "auto")}),
                     changingFix("Run on the CPU", {setTo(field::accelerator.path, "cpu")})};
    context.report(std::move(finding));
}

bool isDdpOnMps(const RuleContext& context)
{
    const StrategyReading strategy = readStrategy(context);
    if (strategy.isAlias)
        return strategy.name.find("ddp") != std::string::npos
            || strategy.name.find("deepspeed") != std::string::npos;
    return isParallel(context);
}

void mpsParallel(RuleContext& context)
{
    const Value& value = context.at(field::accelerator);
    const std::string name = value.isSet() ? classOf(value) : "auto";
    const bool mayBeMps = name == "mps" || name == "MPSAccelerator" || name == "auto" || name == "gpu";
    if (!mayBeMps || !factAt(context, "env.mps_available").asBool() || !isDdpOnMps(context)
        || !context.at(field::strategy).isSet())
        return;
    const std::string strategy = readStrategy(context).name;
    Finding finding =
        findingAt(Severity::WontStart, Stage::Configure, {field::strategy.path, field::accelerator.path});
    finding.message = "strategy=" + strategy + " wants several processes, and accelerator=" + name
        + " is the one GPU of a Mac.";
    finding.why =
        "Collectives have no backend for MPS, so strategies of the DDP family are refused there, with one "
        "device as well.";
    finding.source = inConnector("_check_config_and_set_final_flags");
    finding.engine = "better: shares the work over CPU rank threads";
    finding.raises = "ValueError: You set `strategy=" + strategy
        + "` but strategies from the DDP family are not supported on the MPS accelerator.";
    finding.fixes = {
        changingFix("Stay on the GPU, with one device",
                    {setTo(field::strategy.path, "auto"), setTo(field::devices.path, 1)}),
        changingFix("Share the work over CPU processes", {setTo(field::accelerator.path, "cpu")})};
    context.report(std::move(finding));
}

bool isCpuCount(const Value& devices)
{
    if (!devices.isSet() || devices.isBool())
        return true;
    if (devices.isString()) {
        const std::string text = devices.asString();
        return text == "auto"
            || (!text.empty() && text.find_first_not_of("0123456789 ") == std::string::npos);
    }
    return devices.isInteger() && devices.asInteger() >= 0; // 0 has a rule of its own.
}

void devicesOfCpu(RuleContext& context)
{
    const Value& value = context.at(field::devices);
    const bool empty = value.isList() && value.asList().empty();
    if (isCpuCount(value) || empty || strategyArgument(context, "parallel_devices").isSet()
        || readDevice(context) != DeviceKind::Cpu)
        return;
    Finding finding =
        findingAt(Severity::WontStart, Stage::Configure, {field::devices.path, field::accelerator.path});
    finding.message = "devices is " + value.text() + " on a CPU, where it is the number of processes.";
    finding.why = "A CPU has no numbered devices to choose from, and \"all of them\" has no meaning.";
    finding.source = inLightning("src/lightning/fabric/accelerators/cpu.py, _parse_cpu_cores");
    finding.engine = "same";
    finding.raises = "TypeError: `devices` selected with `CPUAccelerator` should be an int > 0.";
    const auto listed = static_cast<std::int64_t>(value.asList().size());
    if (listed > 1)
        finding.fixes.push_back(
            changingFix(std::to_string(listed) + " processes", {setTo(field::devices.path, Value(listed))}));
    finding.fixes.push_back(changingFix("One process", {setTo(field::devices.path, 1)}));
    context.report(std::move(finding));
}

/// The GPUs that are asked for by number; the first so many for a count; empty for all or unknown.
std::vector<std::int64_t> askedGpus(const Value& devices)
{
    std::vector<std::int64_t> ids;
    if (devices.isList()) {
        for (const Value& id : devices.asList())
            ids.push_back(id.asInteger());
        return ids;
    }
    std::string text = devices.isString() ? devices.asString() : "";
    if (text.find(',') == std::string::npos) {
        std::int64_t count = devices.asInteger();
        std::from_chars(text.data(), text.data() + text.size(), count);
        for (std::int64_t id = 0; id < std::min<std::int64_t>(count, 1024); ++id)
            ids.push_back(id);
        return ids;
    }
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t comma = std::min(text.find(',', at), text.size());
        std::int64_t id = 0;
        const std::size_t first = std::min(text.find_first_not_of(' ', at), comma);
        if (std::from_chars(text.data() + first, text.data() + comma, id).ec == std::errc())
            ids.push_back(id);
        at = comma + 1;
    }
    return ids;
}

std::string listText(const std::vector<std::int64_t>& ids)
{
    std::string text;
    for (const std::int64_t id : ids)
        text += (text.empty() ? "" : ", ") + std::to_string(id);
    return "[" + text + "]";
}

void gpusTwice(RuleContext& context)
{
    const Value& value = context.at(field::devices);
    if (!value.isList() && !value.isString())
        return;
    const auto ids = askedGpus(value);
    const std::set<std::int64_t> once(ids.begin(), ids.end());
    if (once.size() == ids.size() || readDevice(context) != DeviceKind::Cuda)
        return;
    Finding finding = findingAt(Severity::WontStart, Stage::Configure, {field::devices.path});
    finding.message = "devices names a GPU twice: " + listText(ids) + ".";
    finding.why = "Each process takes one GPU; the collectives of NCCL cannot serve two on the same one.";
    finding.source = inParser("_check_unique");
    finding.engine = "same";
    finding.raises = "MisconfigurationException: Device ID's (GPU) must be unique.";
    ValueList unique;
    for (const std::int64_t id : once)
        unique.emplace_back(id);
    finding.fixes = {changingFix("Each of them once", {setTo(field::devices.path, unique)}),
                     changingFix(std::to_string(ids.size()) + " GPUs, whichever they are",
                                 {setTo(field::devices.path, static_cast<std::int64_t>(ids.size()))})};
    context.report(std::move(finding));
}

void gpusTooMany(RuleContext& context)
{
    const auto gpus = visibleGpus(context);
    const auto ids = askedGpus(context.at(field::devices));
    if (!gpus || *gpus < 1 || ids.empty() || *std::max_element(ids.begin(), ids.end()) < *gpus
        || readDevice(context) != DeviceKind::Cuda)
        return;
    const std::string there = *gpus == 1 ? "one GPU" : std::to_string(*gpus) + " GPUs";
    Finding finding = findingAt(Severity::WontStart, Stage::Configure, {field::devices.path});
    finding.message = "devices is " + context.at(field::devices).text() + ", and a machine of the target has "
        + there + ", counted from 0.";
    finding.why = "Every number must be one of a visible GPU; CUDA_VISIBLE_DEVICES can hide some.";
    finding.source = inParser("_sanitize_gpu_ids");
    finding.engine = "better: rank threads share what is there";
    finding.raises = "MisconfigurationException: You requested gpu: " + listText(ids);
    finding.fixes = {changingFix("All there are", {setTo(field::devices.path, "auto")}),
                     changingFix("One GPU", {setTo(field::devices.path, 1)})};
    context.report(std::move(finding));
}

void devicesType(RuleContext& context)
{
    const Value& value = context.at(field::devices);
    const auto& items = value.asList();
    const bool oddItem =
        std::any_of(items.begin(), items.end(), [](const Value& id) { return !id.isInteger(); });
    if ((!value.isBool() || !value.asBool()) && !value.isDouble() && !value.isMap() && !oddItem)
        return;
    const bool nothing = value.isDouble() && value.asDouble() == 0.0;
    if (nothing || readDevice(context) != DeviceKind::Cuda)
        return;
    Finding finding = findingAt(Severity::WontStart, Stage::Configure, {field::devices.path});
    finding.message =
        "devices is " + value.text() + "; GPUs are a count, a list of numbers, or text such as \"0,1\".";
    finding.why =
        "Nothing is rounded or converted, since a wrong guess would take another GPU than was meant.";
    finding.source = inParser("_check_data_type");
    finding.engine = "same";
    finding.raises = "TypeError: Device IDs (GPU/TPU) must be an int, a string, a sequence of ints";
    finding.fixes = {changingFix("One GPU", {setTo(field::devices.path, 1)}),
                     changingFix("All there are", {setTo(field::devices.path, "auto")})};
    context.report(std::move(finding));
}

constexpr std::array kRules = {
    Rule{"accelerator-unknown", kOfLightning, {"2.0"}, acceleratorUnknown},
    Rule{"accelerator-mps-missing", kOfLightning, {"2.0"}, mpsUnavailable},
    Rule{"accelerator-mps-parallel", kOfLightning, {"2.0"}, mpsParallel},
    Rule{"devices-of-cpu", kOfLightning, {"2.0"}, devicesOfCpu},
    Rule{"devices-type", kOfLightning, {"2.0"}, devicesType},
    Rule{"devices-twice", kOfLightning, {"2.0"}, gpusTwice},
    Rule{"devices-too-many", kOfLightning, {"2.0"}, gpusTooMany},
};

} // namespace

std::span<const Rule> deviceRules()
{
    return kRules;
}

} // namespace mantissa
