#include "engine/recipe/class_object.h"
#include "engine/recipe/path.h"
#include "engine/recipe/setup.h"

#include <algorithm>
#include <map>

namespace mantissa {

namespace {

class Diff {
public:
    void compare(const std::string& path, const Value& before, const Value& after)
    {
        if (before == after)
            return;
        if (before.isMap() && after.isMap())
            compareMaps(path, before, after);
        else if (isClassList(before) && isClassList(after))
            compareClassLists(path, before.asList(), after.asList());
        else if (before.isAbsent() && isBranch(after))
            compareMaps(path, Value(ValueMap{}), after);
        else if (after.isAbsent() && isBranch(before))
            compareMaps(path, before, Value(ValueMap{}));
        else
            m_found.push_back({path, before, after});
    }

    std::vector<Difference> take() { return std::move(m_found); }

private:
    static bool isBranch(const Value& value) { return value.isMap() && !value.asMap().empty(); }

    static bool isClassList(const Value& value)
    {
        const auto& list = value.asList();
        return value.isList() && std::all_of(list.begin(), list.end(), [](const Value& v) {
                   return v.isMap() && !classOf(v).empty();
               });
    }

    void compareMaps(const std::string& path, const Value& before, const Value& after)
    {
        for (const auto& [key, value] : before.asMap())
            compare(joinPath(path, key), value, after[key]);
        for (const auto& [key, value] : after.asMap())
            if (before[key].isAbsent())
                compare(joinPath(path, key), Value(), value);
    }

    /// Entries by class and by their number within the class: `[Timer]`, `[Timer#2]`.
    static std::vector<std::pair<std::string, const Value*>> named(const ValueList& list)
    {
        std::map<std::string, std::size_t> seen;
        std::vector<std::pair<std::string, const Value*>> out;
        for (const auto& entry : list) {
            const auto name = classOf(entry);
            out.emplace_back(pathText({PathStep{name, seen[name]++, true}}), &entry);
        }
        return out;
    }

    /// An entry's arguments, so that their paths leave out `init_args`, as paths with a class do.
    void compareObjects(const std::string& path, const Value& before, const Value& after)
    {
        if (before.isAbsent() || after.isAbsent())
            m_found.push_back({path, before, after});
        else {
            compareMaps(path, before["init_args"], after["init_args"]);
            compare(path + ".class_path", before["class_path"], after["class_path"]);
        }
    }

    void compareClassLists(const std::string& path, const ValueList& before, const ValueList& after)
    {
        const auto old = named(before);
        const auto fresh = named(after);
        const auto find = [](const auto& entries, const std::string& name) {
            const auto at =
                std::find_if(entries.begin(), entries.end(), [&](const auto& e) { return e.first == name; });
            return at == entries.end() ? Value() : *at->second;
        };
        const auto count = m_found.size();
        for (const auto& [name, entry] : old)
            compareObjects(path + name, *entry, find(fresh, name));
        for (const auto& [name, entry] : fresh)
            if (find(old, name).isAbsent())
                compareObjects(path + name, Value(), *entry);
        if (m_found.size() == count) // Only the order differs.
            m_found.push_back({path, Value(before), Value(after)});
    }

    std::vector<Difference> m_found;
};

} // namespace

std::vector<Difference> diff(const Setup& before, const Setup& after)
{
    Diff diff;
    diff.compare({}, before.root(), after.root());
    return diff.take();
}

} // namespace mantissa
