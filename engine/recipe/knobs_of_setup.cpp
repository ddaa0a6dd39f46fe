#include "engine/recipe/class_object.h"
#include "engine/recipe/field.h"
#include "engine/recipe/fields.h"
#include "engine/recipe/knobs.h"

#include <algorithm>
#include <array>

namespace mantissa {

namespace {

constexpr std::array<std::string_view, 3> kFactGroups = {"optimizer", "lr_scheduler", "clip_gradients"};
constexpr std::array<std::string_view, 3> kOtherFacts = {"data", "run", "env"};
constexpr std::array<std::string_view, 6> kSharedArguments = {"accelerator",      "precision_plugin",
                                                              "checkpoint_io",    "cluster_environment",
                                                              "parallel_devices", "process_group_backend"};

template <typename Words>
bool isOneOf(const Words& words, std::string_view text)
{
    return std::find(words.begin(), words.end(), text) != words.end();
}

std::string slotOf(std::string_view className)
{
    if (className.ends_with("Precision"))
        return "plugins.precision";
    if (className.ends_with("CheckpointIO"))
        return "plugins.checkpoint_io";
    if (className.ends_with("Environment"))
        return "plugins.cluster_environment";
    const bool layerSync = className.ends_with("Sync") || className.ends_with("BatchNorm");
    return layerSync ? "plugins.layer_sync" : std::string();
}

class ToKnobs {
public:
    explicit ToKnobs(const Setup& setup) : m_setup(setup) {}

    Knobs make()
    {
        addFields();
        addStrategy();
        addCallbacks();
        addPlugins();
        addFacts();
        for (const auto& [name, value] : m_setup.at("mantissa.fabric").asMap())
            put("fabric." + name, value);
        for (const auto& [name, value] : m_setup.at("mantissa.knobs").asMap())
            put(name, value);
        return std::move(m_knobs);
    }

private:
    void put(const std::string& knob, const Value& value)
    {
        if (!value.isAbsent())
            m_knobs.insert_or_assign(knob, value);
    }

    void addFields()
    {
        for (const auto* field : allFields()) {
            const bool ownWay = field->knob.starts_with("strategy") || field->knob.starts_with("callback")
                || field->knob.starts_with("plugins");
            if (field->knob.empty() || ownWay)
                continue;
            const auto& value = m_setup[*field];
            const bool isClass = field->knob.ends_with(".class") && value.isString();
            put(std::string(field->knob), isClass ? Value(shortClassName(value.asString())) : value);
        }
    }

    void addStrategy()
    {
        const auto& strategy = m_setup[field::strategy];
        put("strategy", strategy.isMap() ? Value(classOf(strategy)) : strategy);
        const auto kind = strategyKind(strategy);
        for (const auto& [name, value] : strategy["init_args"].asMap()) {
            if (isOneOf(kSharedArguments, name))
                put("strategy." + name, value);
            else if (kind == "deepspeed" && name == "config" && value.isMap())
                for (const auto& [key, setting] : value.asMap())
                    put("strategy.deepspeed.config." + key, setting);
            else
                put("strategy." + kind + "." + name, value);
        }
    }

    void addCallbacks()
    {
        std::map<std::string, int> seen;
        const auto& callbacks = m_setup[field::callbacks];
        const auto entries = callbacks.isMap() ? ValueList{callbacks} : callbacks.asList();
        for (const auto& entry : entries) {
            const auto number = ++seen[classOf(entry)];
            const auto knob = "callback." + classOf(entry) + (number > 1 ? "#" + std::to_string(number) : "");
            if (entry["init_args"].asMap().empty())
                put(knob, true);
            for (const auto& [name, value] : entry["init_args"].asMap())
                put(knob + "." + name, value);
        }
    }

    void addPlugins()
    {
        auto plugins = m_setup[field::plugins].asList();
        const auto extra = m_setup.at("mantissa.knobs.\"plugins.extra\"").asList().size();
        plugins.resize(plugins.size() - std::min(extra, plugins.size()));
        for (const auto& plugin : plugins) {
            const auto name = classOf(plugin);
            const auto& precision = argumentOf(plugin, "precision");
            const auto& scaler = argumentOf(plugin, "scaler");
            if (const auto slot = slotOf(name); !slot.empty())
                put(slot,
                    precision.isAbsent() ? name : name + "(" + precision.asString(precision.text()) + ")");
            if (!scaler.isAbsent())
                put("scaler", scaler.isSet() ? Value(classOf(scaler)) : scaler);
        }
    }

    void addFacts()
    {
        for (const auto& [name, value] : m_setup.at("mantissa.facts").asMap()) {
            if (isOneOf(kOtherFacts, name))
                addGroup(name, value);
            else if (isOneOf(kFactGroups, name))
                addGroup("module." + name, value);
            else if (name != "scaler")
                put("module." + name, value);
        }
    }

    void addGroup(const std::string& group, const Value& value)
    {
        for (const auto& [name, fact] : value.asMap())
            put(group + "." + name, fact);
    }

    const Setup& m_setup;
    Knobs m_knobs;
};

} // namespace

Knobs knobsFromSetup(const Setup& setup)
{
    return ToKnobs(setup).make();
}

Value knobValue(const Setup& setup, std::string_view knob)
{
    const auto knobs = knobsFromSetup(setup);
    const auto found = knobs.find(knob);
    return found == knobs.end() ? Value() : found->second;
}

} // namespace mantissa
