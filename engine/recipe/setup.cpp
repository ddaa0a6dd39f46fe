#include "engine/recipe/setup.h"

#include "engine/recipe/class_object.h"
#include "engine/recipe/field.h"
#include "engine/recipe/locate.h"

#include <algorithm>

namespace mantissa {

namespace {

const Value kAbsent;

Error inTheWay(std::string_view path, const PathStep& step, const Value& value)
{
    return {ErrorCode::InvalidSetup,
            "“" + std::string(path) + "” cannot be set: " + (step.isKey() ? "“" + step.key + "”" : "an entry")
                + " would have to be inside " + value.text() + ".",
            "Remove that value first, or write the whole object."};
}

/// A name in the place of an object: `strategy: fsdp` becomes the object, so that it can have arguments.
void makeRoom(Value& value, const PathStep& step)
{
    if (!value.isSet()) {
        value = step.isKey() ? Value(ValueMap{}) : Value(ValueList{});
    } else if (step.isKey() && value.isString() && (step.key == "init_args" || step.key == "class_path")) {
        value = objectOfName(value.asString());
    } else if (!step.isKey() && (value.isString() || (value.isMap() && !classOf(value).empty()))) {
        value = Value(ValueList{value});
    }
}

Value* childForWriting(Value& parent, const RawStep& raw)
{
    makeRoom(parent, raw.step);
    if (raw.step.isKey()) {
        auto* map = parent.map();
        if (!map)
            return nullptr;
        for (auto& [key, value] : *map)
            if (key == raw.step.key)
                return &value;
        return &map->emplace_back(raw.step.key, Value()).second;
    }
    auto* list = parent.list();
    if (!list || *raw.step.index > list->size())
        return nullptr;
    if (*raw.step.index == list->size())
        list->push_back(raw.newClass.empty() ? Value()
                                             : Value(ValueMap{{"class_path", Value(raw.newClass)}}));
    return &(*list)[*raw.step.index];
}

void eraseChild(Value& parent, const PathStep& step)
{
    if (auto* map = parent.map(); map && step.isKey())
        std::erase_if(*map, [&](const auto& entry) { return entry.first == step.key; });
    if (auto* list = parent.list(); list && !step.isKey() && *step.index < list->size())
        list->erase(list->begin() + static_cast<std::ptrdiff_t>(*step.index));
}

bool isEmptyContainer(const Value& value)
{
    return (value.isMap() && value.asMap().empty()) || (value.isList() && value.asList().empty());
}

/// Removes what the steps lead to; true where `value` became empty by it.
bool eraseAt(Value& value, std::span<const RawStep> steps)
{
    if (steps.size() > 1) {
        Value* next = nullptr;
        const auto& step = steps.front().step;
        if (auto* map = value.map(); map && step.isKey()) {
            const auto found =
                std::find_if(map->begin(), map->end(), [&](const auto& e) { return e.first == step.key; });
            next = found == map->end() ? nullptr : &found->second;
        } else if (auto* list = value.list(); list && !step.isKey() && *step.index < list->size()) {
            next = &(*list)[*step.index];
        }
        if (!next || !eraseAt(*next, steps.subspan(1)))
            return false;
    }
    const bool had = !isEmptyContainer(value);
    eraseChild(value, steps.front().step);
    return had && isEmptyContainer(value);
}

Result<void> append(Setup& setup, const Edit& edit)
{
    const auto& present = setup.at(edit.path);
    ValueList list;
    if (present.isList())
        list = present.asList();
    else if (present.isMap() || present.isString()) // One object stands for a list of one.
        list = {present};
    else if (present.isSet())
        return Error{ErrorCode::InvalidSetup,
                     "“" + edit.path + "” is no list, so nothing can be added to it.",
                     "Set the whole value instead."};
    list.push_back(edit.value);
    return setup.set(edit.path, std::move(list));
}

const Value& valueByKeys(const Value& root, std::string_view path)
{
    const Value* value = &root;
    while (!path.empty()) {
        const auto dot = path.find('.');
        value = &(*value)[path.substr(0, dot)];
        path = dot == std::string_view::npos ? std::string_view{} : path.substr(dot + 1);
    }
    return *value;
}

} // namespace

const Value& Setup::at(std::string_view path) const
{
    if (path.find_first_of("[\"")
        == std::string_view::npos) // Keys alone: nearly all questions, many times over.
        return valueByKeys(m_root, path);
    const auto steps = parsePath(path);
    if (!steps)
        return kAbsent;
    const auto* value = findValue(m_root, rawSteps(m_root, *steps));
    return value ? *value : kAbsent;
}

const Value& Setup::operator[](const Field& field) const
{
    return at(field.path);
}

Value Setup::effective(const Field& field) const
{
    const auto& written = at(field.path);
    return written.isSet() || field.fallback.empty() ? written : field.defaultValue();
}

Result<void> Setup::set(std::string_view path, Value value)
{
    const auto steps = parsePath(path);
    if (!steps)
        return steps.error();
    Value root = m_root;
    Value* at = &root;
    for (const auto& raw : rawSteps(root, *steps)) {
        auto* next = childForWriting(*at, raw);
        if (!next)
            return inTheWay(path, raw.step, *at);
        at = next;
    }
    *at = std::move(value);
    m_root = std::move(root);
    return {};
}

void Setup::unset(std::string_view path)
{
    const auto steps = parsePath(path);
    if (!steps || steps->empty())
        return;
    const auto raw = rawSteps(m_root, *steps);
    if (!raw.empty() && findValue(m_root, raw))
        eraseAt(m_root, raw);
}

Result<Setup> applyEdits(Setup setup, const std::vector<Edit>& edits)
{
    for (const auto& edit : edits) {
        Result<void> done;
        if (edit.op == EditOp::Set)
            done = setup.set(edit.path, edit.value);
        else if (edit.op == EditOp::Append)
            done = append(setup, edit);
        else
            setup.unset(edit.path);
        if (!done)
            return done.error();
    }
    return setup;
}

} // namespace mantissa
