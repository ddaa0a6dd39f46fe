#include "engine/recipe/asked.h"
#include "engine/recipe/fields.h"
#include "engine/rules/reading.h"

#include <array>

namespace mantissa {
namespace {

/// Precision classes that may stand among the plugins, with the precision each has when it is given none.
struct PluginClass {
    std::string_view name;
    std::string_view fallback;
};
constexpr std::array kPluginClasses = {
    PluginClass{"MixedPrecision", ""},
    PluginClass{"FSDPPrecision", ""},
    PluginClass{"HalfPrecision", "16-true"},
    PluginClass{"DoublePrecision", "64-true"},
    PluginClass{"Precision", "32-true"},
    PluginClass{"DeepSpeedPrecision", ""},
    PluginClass{"TransformerEnginePrecision", "transformer-engine"},
    PluginClass{"BitsandbytesPrecision", "bf16-true"},
    PluginClass{"XLAPrecision", "32-true"},
};

const PluginClass* pluginClass(std::string_view name)
{
    for (const PluginClass& plugin : kPluginClasses) {
        if (plugin.name == name)
            return &plugin;
    }
    return nullptr;
}

/// A plugin object, where one decides about the precision.
struct Found {
    const Value* value = nullptr;
    std::string path;
    std::string name; ///< Its class.
};

/// The class of a plugin, which knobs may write with its precision: "HalfPrecision(bf16-true)".
std::string pluginName(const Value& plugin)
{
    const std::string name = classOf(plugin);
    return name.substr(0, name.find('('));
}

std::string bracketedPrecision(const Value& plugin)
{
    const std::string text = plugin.asString();
    const auto open = text.find('(');
    return open != std::string::npos && text.ends_with(')') ? text.substr(open + 1, text.size() - open - 2)
                                                            : "";
}

Found findPlugin(const RuleContext& context)
{
    const Value& plugins = context.at(field::plugins);
    for (const Value& plugin : plugins.asList()) {
        if (const std::string name = pluginName(plugin); pluginClass(name))
            return {&plugin, std::string(field::plugins.path) + "[" + name + "]", name};
    }
    if (const std::string name = pluginName(plugins); pluginClass(name))
        return {&plugins, std::string(field::plugins.path), name};
    const Value& ofStrategy = context.at(field::strategyPrecisionPlugin);
    if (const std::string name = pluginName(ofStrategy); pluginClass(name))
        return {&ofStrategy, std::string(field::strategyPrecisionPlugin.path), name};
    return {};
}

/// An entry of a list takes its arguments by name; any other object has them in `init_args`.
std::string argumentPath(const Found& found, std::string_view name)
{
    return found.path + (found.path.ends_with(']') ? "." : ".init_args.") + std::string(name);
}

PrecisionReading fromPlugin(const RuleContext& context, const Found& found)
{
    const Value& arguments = (*found.value)["init_args"];
    PrecisionReading reading;
    reading.plugin = found.name;
    reading.path = found.path;
    reading.settingPath = argumentPath(found, "precision");
    reading.fromPlugin = true;
    const Value& precision = arguments["precision"];
    reading.asked = precision.isSet() ? longPrecision(precision) : bracketedPrecision(*found.value);
    if (reading.asked.empty())
        reading.asked = pluginClass(found.name)->fallback;
    reading.effective = reading.asked;
    if (arguments["scaler"].isSet())
        reading.scalerPath = argumentPath(found, "scaler");
    else if (context.at(field::scalerObject).isSet())
        reading.scalerPath = field::scalerObject.path;
    reading.hasScaler = reading.effective == "16-mixed";
    return reading;
}

std::string pluginOf(StrategyFamily family, const std::string& precision)
{
    if (family == StrategyFamily::Fsdp)
        return "FSDPPrecision";
    if (family == StrategyFamily::DeepSpeed)
        return "DeepSpeedPrecision";
    if (precision.ends_with("-mixed") && !emulatesFp8(precision))
        return "MixedPrecision";
    if (precision == "16-true" || precision == "bf16-true")
        return "HalfPrecision";
    return precision == "64-true" ? "DoublePrecision" : "Precision";
}

} // namespace

std::string longPrecision(const Value& value)
{
    if (!value.isSet())
        return std::string(field::precision.fallback);
    return longPrecisionName(value.isString() ? value.asString() : value.text());
}

PrecisionReading readPrecision(RuleContext& context)
{
    if (const Found found = findPlugin(context); found.value)
        return fromPlugin(context, found);
    PrecisionReading reading;
    reading.asked = longPrecision(context.at(field::precision));
    reading.effective = reading.asked;
    reading.path = field::precision.path;
    reading.settingPath = reading.path;
    const StrategyFamily family = readStrategy(context).family;
    reading.plugin = pluginOf(family, reading.asked);
    if (reading.asked == "16-mixed") {
        reading.hasScaler = true;
        // The flag is compared, not the object: an Accelerator object changes nothing.
        const bool byName = !context.at(field::accelerator).isMap();
        if (reading.plugin == "MixedPrecision" && byName && readDevice(context) == DeviceKind::Cpu) {
            reading.effective = "bf16-mixed";
            reading.hasScaler = false;
        }
    }
    return reading;
}

} // namespace mantissa
