#include "engine/recipe/left_out.h"

#include "engine/recipe/class_object.h"
#include "engine/recipe/fields.h"
#include "engine/recipe/path.h"
#include "engine/recipe/plan_parts.h"

#include <algorithm>
#include <array>
#include <map>
#include <span>
#include <string_view>

namespace mantissa {
namespace {

using Words = std::span<const std::string_view>;

/// Of a precision object: its format, its scaler, and where it computes, which is the CPU here.
constexpr std::array<std::string_view, 3> kPluginArguments = {"precision", "scaler", "device"};
/// Callbacks that are no plan of their own and still do their work.
constexpr std::array<std::string_view, 2> kBuiltIn = {"ModelCheckpoint", "GradientAccumulationScheduler"};
/// Keys of a file that are about a run of the target.
constexpr std::array<std::string_view, 2> kTopKeys = {"ckpt_path", "weights_only"};

bool isOneOf(Words words, std::string_view text)
{
    return std::find(words.begin(), words.end(), text) != words.end();
}

/// About the target or a stranger's module, or read with the object that holds it.
bool isElsewhere(std::string_view path)
{
    return path == field::target.path || path.starts_with("mantissa.facts.")
        || path.find('[') != std::string_view::npos || path.starts_with("trainer.strategy.");
}

class LeftOut {
public:
    explicit LeftOut(const Setup& setup) : m_setup(setup) {}

    std::vector<std::string> find()
    {
        for (const auto* field : allFields())
            if (field->use == FieldUse::Checks && !isElsewhere(field->path))
                addIfChanged(*field, m_setup[*field]);
        for (const auto key : kTopKeys)
            if (m_setup.at(key).isSet())
                m_paths.emplace_back(key);
        addStrategy();
        addPlugins();
        addCallbacks();
        return std::move(m_paths);
    }

private:
    void addIfChanged(const Field& field, const Value& value)
    {
        if (value.isSet() && value != field.defaultValue())
            m_paths.emplace_back(field.path);
    }

    /// Arguments of one object: those that a field names and this engine runs are carried out.
    void addArguments(const Value& object, const std::string& place, const std::string& fieldPlace,
                      Words alsoRead = {})
    {
        for (const auto& [name, value] : object["init_args"].asMap()) {
            const auto* field = fieldAt(fieldPlace + name);
            const bool runs = isOneOf(alsoRead, name) || (field && field->use == FieldUse::Runs);
            const bool isDefault = field && value == field->defaultValue();
            if (value.isSet() && !runs && !isDefault)
                m_paths.push_back(place + name);
        }
    }

    void addStrategy()
    {
        static constexpr std::array<std::string_view, 1> kRead = {"precision_plugin"}; // As a plugin is.
        const std::string place = "trainer.strategy.init_args.";
        addArguments(m_setup[field::strategy], place, place, kRead);
    }

    /// "trainer.callbacks[Timer#2]"
    std::string placeOf(const Field& list, const std::string& name)
    {
        const int number = ++m_seen[std::string(list.path) + name];
        return std::string(list.path) + "[" + name + (number > 1 ? "#" + std::to_string(number) : "") + "]";
    }

    void addPlugins()
    {
        for (const auto& plugin : m_setup[field::plugins].asEntries()) {
            const auto name = classOf(plugin);
            if (name.empty())
                continue;
            const auto place = placeOf(field::plugins, name);
            if (name.ends_with("Precision"))
                addArguments(plugin, place + ".", place + ".", kPluginArguments);
            else
                m_paths.push_back(place);
        }
    }

    void addCallbacks()
    {
        for (const auto& callback : m_setup[field::callbacks].asEntries()) {
            const auto name = classOf(callback);
            if (name.empty())
                continue;
            const auto place = placeOf(field::callbacks, name);
            if (hasCallback(name) || isOneOf(kBuiltIn, name))
                addArguments(callback, place + ".", std::string(field::callbacks.path) + "[" + name + "].");
            else
                m_paths.push_back(place);
        }
    }

    const Setup& m_setup;
    std::map<std::string, int> m_seen;
    std::vector<std::string> m_paths;
};

} // namespace

std::vector<std::string> settingsLeftOut(const Setup& setup)
{
    return LeftOut(setup).find();
}

} // namespace mantissa
