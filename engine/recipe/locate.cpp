#include "engine/recipe/locate.h"

#include "engine/recipe/class_object.h"

namespace mantissa {

namespace {

const Value* child(const Value* parent, const PathStep& step)
{
    if (!parent)
        return nullptr;
    if (step.isKey()) {
        const auto& value = (*parent)[step.key];
        return value.isAbsent() ? nullptr : &value;
    }
    const auto& list = parent->asList();
    return *step.index < list.size() ? &list[*step.index] : nullptr;
}

/// The number of the n-th entry of a class, or the list's length.
std::size_t entryOfClass(const ValueList& list, const PathStep& step)
{
    std::size_t seen = 0;
    for (std::size_t i = 0; i < list.size(); ++i)
        if (classOf(list[i]) == step.key && seen++ == *step.index)
            return i;
    return list.size();
}

class Expansion {
public:
    explicit Expansion(const Value& root) : m_at(&root) {}

    void add(const PathStep& step)
    {
        if (step.ofClass) {
            addClass(step);
            m_inObject = true;
            return;
        }
        if (m_inObject && step.isKey() && step.key != "init_args" && step.key != "class_path")
            push({"init_args", std::nullopt, false});
        m_inObject = false;
        if (step.isKey())
            m_section = step.key;
        push(step);
    }

    std::vector<RawStep> take() { return std::move(m_steps); }

private:
    void push(PathStep step, std::string newClass = {})
    {
        m_at = child(m_at, step);
        m_steps.push_back({std::move(step), std::move(newClass)});
    }

    void addClass(const PathStep& step)
    {
        const bool single = m_at && (m_at->isMap() || m_at->isString());
        if (single && classOf(*m_at) == step.key && *step.index == 0)
            return;
        // A single object that is another one becomes the first entry of a list.
        const auto number = m_at && m_at->isList() ? entryOfClass(m_at->asList(), step) : std::size_t{single};
        push({{}, number, false}, fullClassPath(m_section, step.key));
    }

    const Value* m_at;
    std::string m_section;
    bool m_inObject = false;
    std::vector<RawStep> m_steps;
};

} // namespace

std::vector<RawStep> rawSteps(const Value& root, const std::vector<PathStep>& steps)
{
    Expansion expansion(root);
    for (const auto& step : steps)
        expansion.add(step);
    return expansion.take();
}

const Value* findValue(const Value& root, const std::vector<RawStep>& steps)
{
    const Value* at = &root;
    for (const auto& raw : steps)
        at = child(at, raw.step);
    return at;
}

std::string rawPath(const Value& root, std::string_view path)
{
    const auto steps = parsePath(path);
    if (!steps)
        return std::string(path);
    std::vector<PathStep> plain;
    for (auto& raw : rawSteps(root, *steps))
        plain.push_back(std::move(raw.step));
    return pathText(plain);
}

} // namespace mantissa
