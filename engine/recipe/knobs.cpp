#include "engine/recipe/knobs.h"

#include "engine/recipe/class_object.h"
#include "engine/recipe/field.h"
#include "engine/recipe/fields.h"

#include <algorithm>
#include <array>

namespace mantissa {

namespace {

constexpr std::string_view kOtherFacts[] = {"data", "run", "env"}; ///< Groups beside "module".

/// Arguments that any strategy object takes; the others are named with their kind.
constexpr std::string_view kSharedArguments[] = {"accelerator",      "precision_plugin",
                                                 "checkpoint_io",    "cluster_environment",
                                                 "parallel_devices", "process_group_backend"};

/// Places of plugins: which class names belong there.
struct PluginSlot {
    std::string_view knob;
    std::string_view suffix;
};
constexpr std::array kPluginSlots = {
    PluginSlot{"plugins.precision", "Precision"},
    PluginSlot{"plugins.checkpoint_io", "CheckpointIO"},
    PluginSlot{"plugins.cluster_environment", "Environment"},
    PluginSlot{"plugins.layer_sync", "Sync"},
    PluginSlot{"plugins.layer_sync", "BatchNorm"},
};

bool isOneOf(std::span<const std::string_view> words, std::string_view text)
{
    return std::find(words.begin(), words.end(), text) != words.end();
}

std::string flatPath(std::string_view knob)
{
    return joinPath("mantissa.knobs", knob);
}

/// Splits "a.b.c" into "a" and "b.c".
std::pair<std::string_view, std::string_view> cut(std::string_view text)
{
    const auto dot = text.find('.');
    return {text.substr(0, dot), dot == std::string_view::npos ? std::string_view{} : text.substr(dot + 1)};
}

bool isTorchOptimizer(std::string_view name)
{
    constexpr std::string_view kNames[] = {"SGD",    "Adam",  "AdamW",     "Adagrad", "Adadelta",
                                           "Adamax", "NAdam", "RAdam",     "RMSprop", "Rprop",
                                           "LBFGS",  "ASGD",  "SparseAdam"};
    return isOneOf(kNames, name);
}

bool isTorchSchedule(std::string_view name)
{
    return name.ends_with("LR") || name == "ReduceLROnPlateau" || name == "CosineAnnealingWarmRestarts";
}

/// A knob names classes by their short names; the tree has the paths that a configuration file needs.
Value valueForTree(std::string_view knob, const Value& value)
{
    const auto name = value.asString();
    if (knob == "strategy" && name.ends_with("Strategy"))
        return ValueMap{{"class_path", Value(fullClassPath("strategy", name))}};
    if (knob == "module.optimizer.class" && isTorchOptimizer(name))
        return "torch.optim." + name;
    if (knob == "module.lr_scheduler.class" && isTorchSchedule(name))
        return "torch.optim.lr_scheduler." + name;
    return value;
}

/// "FSDPPrecision(16-mixed)" as an object.
Value pluginObject(std::string_view text)
{
    const auto open = text.find('(');
    ValueMap object = {{"class_path", Value(fullClassPath("plugins", text.substr(0, open)))}};
    if (open != std::string_view::npos && text.ends_with(')')) {
        const auto argument = text.substr(open + 1, text.size() - open - 2);
        if (!argument.empty())
            object.emplace_back("init_args", ValueMap{{"precision", Value(argument)}});
    }
    return object;
}

class FromKnobs {
public:
    explicit FromKnobs(const Knobs& knobs) : m_knobs(knobs) {}

    Setup make()
    {
        addWhere([](std::string_view name) { return name == "strategy"; });
        addPlugins();
        addWhere([](std::string_view name) {
            return name != "strategy" && !name.starts_with("plugins.")
                && name.find('#') == std::string_view::npos;
        });
        addWhere([](std::string_view name) { return name.find('#') != std::string_view::npos; });
        return std::move(m_setup);
    }

private:
    template <typename Wanted>
    void addWhere(Wanted wanted)
    {
        for (const auto& [name, value] : m_knobs)
            if (wanted(std::string_view(name)))
                add(name, value);
    }

    void addFlat(std::string_view knob, const Value& value)
    {
        (void)m_setup.set(flatPath(knob), value); // Nothing but maps is above it.
    }

    void add(std::string_view knob, const Value& value)
    {
        const auto [head, rest] = cut(knob);
        if (head == "callback" && cut(rest).second.empty()) {
            if (value == Value(true) && !rest.empty())
                (void)m_setup.set("trainer.callbacks[" + std::string(rest) + "].class_path",
                                  fullClassPath("callbacks", rest.substr(0, rest.find('#'))));
            else
                addFlat(knob, value);
            return;
        }
        if (head == "strategy" && !rest.empty())
            makeStrategyObject(rest);
        if (!m_setup.set(pathOfKnob(m_setup, knob), valueForTree(knob, value)))
            addFlat(knob, value);
    }

    /// Arguments make the strategy an object, of the kind that they name.
    void makeStrategyObject(std::string_view rest)
    {
        const auto& strategy = m_setup[field::strategy];
        const auto className = strategyClass(cut(rest).first);
        if (strategy.isAbsent() && !className.empty())
            (void)m_setup.set("trainer.strategy.class_path", fullClassPath("strategy", className));
    }

    void addPlugins()
    {
        for (const auto& slot : kPluginSlots)
            if (const auto found = m_knobs.find(slot.knob); found != m_knobs.end())
                addPlugin(found->first, found->second);
        const auto extra = m_knobs.find("plugins.extra");
        if (extra != m_knobs.end())
            addFlat(extra->first, extra->second);
        if (extra != m_knobs.end())
            for (const auto& item : extra->second.asList())
                appendPlugin(item);
        for (const auto& [name, value] : m_knobs)
            if (name.starts_with("plugins.") && name != "plugins.extra" && !isSlot(name))
                addFlat(name, value);
    }

    static bool isSlot(std::string_view knob)
    {
        return std::any_of(kPluginSlots.begin(), kPluginSlots.end(),
                           [&](const auto& s) { return s.knob == knob; });
    }

    void addPlugin(std::string_view knob, const Value& value)
    {
        if (m_done == knob) // Two suffixes lead to one slot.
            return;
        m_done = knob;
        if (value.isString())
            appendPlugin(value);
        else
            addFlat(knob, value);
    }

    void appendPlugin(const Value& name)
    {
        auto list = m_setup[field::plugins].asList();
        list.push_back(pluginObject(name.asString()));
        (void)m_setup.set(field::plugins.path, std::move(list));
    }

    const Knobs& m_knobs;
    Setup m_setup;
    std::string_view m_done;
};

} // namespace

Setup setupFromKnobs(const Knobs& knobs)
{
    return FromKnobs(knobs).make();
}

std::string pathOfKnob(const Setup& setup, std::string_view knob)
{
    const auto [head, rest] = cut(knob);
    if (head == "callback" && !rest.empty()) {
        const auto [name, argument] = cut(rest);
        const auto entry = "trainer.callbacks[" + std::string(name) + "]";
        return argument.empty() ? entry : entry + "." + std::string(argument);
    }
    if (head == "strategy" && !rest.empty()) {
        const auto [kind, argument] = cut(rest);
        const bool shared = isOneOf(kSharedArguments, rest);
        const bool own = !argument.empty() && kind == strategyKind(setup[field::strategy]);
        return shared || own ? "trainer.strategy.init_args." + std::string(shared ? rest : argument)
                             : flatPath(knob);
    }
    if (knob == "scaler") {
        for (const auto& plugin : setup[field::plugins].asList())
            if (const auto name = classOf(plugin); name.ends_with("Precision"))
                return "trainer.plugins[" + name + "].scaler";
    }
    if (const auto* field = fieldOfKnob(knob))
        return std::string(field->path);
    if (head == "module" && !rest.empty())
        return "mantissa.facts." + std::string(rest);
    if (isOneOf(kOtherFacts, head) && !rest.empty())
        return "mantissa.facts." + std::string(knob);
    if (head == "fabric" && !rest.empty())
        return "mantissa.fabric." + std::string(rest);
    return flatPath(knob);
}

} // namespace mantissa
