#include "engine/recipe/object_shapes.h"

#include "engine/recipe/fields.h"
#include "engine/recipe/path.h"

#include <array>
#include <string_view>

namespace mantissa {
namespace {

/// What keeps an object from being one; empty where it is fine.
std::string complaint(const Value& object, bool mayLackClass)
{
    const auto& name = object["class_path"];
    if (!object.isMap())
        return "is " + object.text() + ", and not a class";
    if (name.isAbsent())
        return mayLackClass ? "" : "has no class_path";
    if (name.asString().empty())
        return "has the class_path " + name.text() + ", which names no class";
    const auto& arguments = object["init_args"];
    return !arguments.isSet() || arguments.isMap()
        ? ""
        : "has the init_args " + arguments.text() + ", which are no arguments";
}

class ShapeCheck {
public:
    explicit ShapeCheck(const Setup& setup) : m_setup(setup) {}

    /// A word may name a class, or something made beforehand.
    void object(const std::string& path, const Value& value, bool mayLackClass = false)
    {
        if (value.isString() && !value.asString().empty())
            return;
        if (auto words = complaint(value, mayLackClass); !words.empty())
            m_found.push_back({path, path + " " + words + ".",
                               "Write class_path: with the name of a class, and its arguments below "
                               "init_args:."});
    }

    void list(const Field& field, bool mayBeFlag)
    {
        const std::string path(field.path);
        const auto& value = m_setup[field];
        if (!value.isSet() || (mayBeFlag && value.isBool()))
            return;
        if (!value.isList()) {
            object(path, value);
            return;
        }
        for (std::size_t i = 0; i < value.asList().size(); ++i)
            object(joinPath(path, i), value.asList()[i]);
    }

    std::vector<OddShape> take() { return std::move(m_found); }

private:
    const Setup& m_setup;
    std::vector<OddShape> m_found;
};

} // namespace

std::vector<OddShape> oddShapes(const Setup& setup)
{
    ShapeCheck check(setup);
    check.list(field::callbacks, false);
    check.list(field::plugins, false);
    check.list(field::logger, true);
    if (const auto& strategy = setup[field::strategy]; strategy.isSet())
        check.object(std::string(field::strategy.path), strategy);
    for (const char* section : {"model", "data", "optimizer", "lr_scheduler"})
        if (const auto& value = setup.at(section); value.isMap())
            check.object(section, value, true);
    return check.take();
}

} // namespace mantissa
