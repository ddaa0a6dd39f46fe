#include "engine/recipe/text_reconciler.h"

#include "engine/recipe/scalar.h"
#include "engine/recipe/setup_text.h"
#include "engine/recipe/yaml_extent.h"

#include <algorithm>

namespace mantissa {

namespace {

using Index = std::unordered_map<std::string_view, const Value*>;

Index indexOf(const Value& map)
{
    Index index;
    for (const auto& [key, value] : map.asMap())
        index.emplace(key, &value);
    return index;
}

void collectTargets(const YamlNode& node, std::unordered_set<const YamlNode*>& targets)
{
    if (node.target)
        targets.insert(node.target);
    for (const auto& entry : node.entries) {
        if (entry.key)
            collectTargets(*entry.key, targets);
        collectTargets(*entry.value, targets);
    }
}

bool isMerge(const YamlEntry& entry)
{
    return entry.key && entry.key->kind == YamlNode::Kind::Scalar && entry.key->plain
        && entry.key->text == "<<";
}

const std::string& keyOf(const YamlEntry& entry)
{
    return entry.key->target ? entry.key->target->text : entry.key->text;
}

bool isBlockContainer(const YamlNode& node)
{
    return (node.kind == YamlNode::Kind::Map || node.kind == YamlNode::Kind::List) && !node.flow;
}

/// Inline maps of a merge have no path, so no edit can reach into them.
Value plainValue(const YamlNode& node)
{
    if (node.target)
        return plainValue(*node.target);
    if (node.kind == YamlNode::Kind::Scalar)
        return node.plain ? resolveScalar(node.text) : Value(node.text);
    ValueList list;
    ValueMap map;
    for (const auto& entry : node.entries) {
        if (node.kind == YamlNode::Kind::Map)
            map.emplace_back(keyOf(entry), plainValue(*entry.value));
        else
            list.push_back(plainValue(*entry.value));
    }
    return node.kind == YamlNode::Kind::Map ? Value(std::move(map)) : Value(std::move(list));
}

} // namespace

TextReconciler::TextReconciler(const SourceText& source, const YamlNode& root)
    : m_source(source), m_text(source.text()), m_root(root)
{
    const auto newline = m_text.find('\n');
    const bool windows = newline != std::string_view::npos && newline > 0 && m_text[newline - 1] == '\r';
    m_style.lineBreak = windows ? "\r\n" : "\n";
    m_style.step = detectStep();
    collectTargets(root, m_targets);
}

TextChanges TextReconciler::changes(const Value& now, const Value& wanted)
{
    // At the top lines may all go and others come; only a merge that gives too much has to be written out.
    const bool lines = !m_root.flow && mergesStay(m_root, wanted);
    if (lines)
        visitMap(m_root, now, wanted, {});
    else
        visit(m_root, now, wanted, {nullptr, m_root.flow});
    return std::move(m_changes);
}

bool TextReconciler::canBeWalked(const YamlNode& node, const Value& wanted) const
{
    if (node.kind == YamlNode::Kind::List)
        return !wanted.asList().empty() && !node.entries.empty();
    const bool braces = !node.flow || m_text[node.begin] == '{';
    if (node.kind != YamlNode::Kind::Map || !wanted.isMap() || !braces)
        return false;
    const auto index = indexOf(wanted);
    return mergesStay(node, wanted)
        && std::any_of(node.entries.begin(), node.entries.end(), [&](const YamlEntry& entry) {
               return isMerge(entry) || index.contains(keyOf(entry));
           });
}

bool TextReconciler::mergesStay(const YamlNode& node, const Value& wanted) const
{
    const auto index = indexOf(wanted);
    const auto merged = newMerged(node);
    for (const auto& entry : node.entries)
        if (isMerge(entry) && !targetsStay(*entry.value))
            return false;
    return std::all_of(merged.asMap().begin(), merged.asMap().end(),
                       [&](const auto& entry) { return index.contains(entry.first); });
}

void TextReconciler::visit(const YamlNode& node, const Value& now, const Value& wanted, Place place)
{
    const bool same = sameSettings(now, wanted);
    bool stays = true; // With its anchor.
    if (node.target) {
        const auto found = m_new.find(node.target);
        if (found == m_new.end() || !sameSettings(found->second, wanted))
            replace(node, wanted, place);
    } else if (same && m_targets.empty()) {
        return;
    } else if (canBeWalked(node, wanted)) {
        if (node.kind == YamlNode::Kind::Map)
            visitMap(node, now, wanted, place);
        else
            visitList(node, now, wanted, place);
    } else if (!same || std::any_of(node.entries.begin(), node.entries.end(), isMerge)) {
        replace(node, wanted, place);
        stays = node.mark == node.begin || (!isBlockContainer(node) && !isFilled(wanted) && node.tag.empty());
    }
    if (stays && m_targets.contains(&node))
        m_new.insert_or_assign(&node, wanted);
}

void TextReconciler::visitMap(const YamlNode& node, const Value& now, const Value& wanted, Place place)
{
    const auto index = indexOf(wanted);
    const auto before = indexOf(now);
    std::unordered_map<std::string_view, std::size_t> last;
    for (std::size_t i = 0; i < node.entries.size(); ++i)
        if (!isMerge(node.entries[i]))
            last.insert_or_assign(keyOf(node.entries[i]), i);
    for (std::size_t i = 0; i < node.entries.size(); ++i) {
        const auto& entry = node.entries[i];
        if (isMerge(entry))
            continue;
        const auto found = index.find(keyOf(entry));
        if (found == index.end())
            removeEntry(node, i);
        else if (last[keyOf(entry)] == i)
            visit(*entry.value, *before.at(keyOf(entry)), *found->second,
                  {&entry, place.inFlow || node.flow});
    }
    const auto merged = newMerged(node);
    const auto fromMerge = indexOf(merged);
    for (const auto& [key, value] : wanted.asMap()) {
        const auto found = fromMerge.find(key);
        const bool isThere =
            last.contains(key) || (found != fromMerge.end() && sameSettings(*found->second, value));
        if (!isThere)
            insertEntry(node, key, value);
    }
}

void TextReconciler::visitList(const YamlNode& node, const Value& now, const Value& wanted, Place place)
{
    const auto& old = now.asList();
    const auto& list = wanted.asList();
    const auto& items = node.entries;
    const auto shared = std::min(old.size(), list.size());
    std::size_t front = 0; // Equal entries at both ends stay; what is between them is matched in order.
    while (front < shared && sameSettings(old[front], list[front]))
        ++front;
    std::size_t back = 0;
    while (back < shared - front && sameSettings(old[old.size() - 1 - back], list[list.size() - 1 - back]))
        ++back;
    if (list.size() > old.size())
        back = 0; // New lines go to the end, so entries before them move.
    const auto cut = list.size() - back;
    const auto inFlow = place.inFlow || node.flow;
    for (std::size_t i = 0; i < items.size(); ++i) {
        const bool atEnd = i >= items.size() - back;
        if (!atEnd && i >= cut) {
            removeEntry(node, i);
            continue;
        }
        const auto to = atEnd ? i + list.size() - items.size() : i;
        visit(*items[i].value, old[i], list[to], {&items[i], inFlow});
    }
    for (auto i = items.size(); i < list.size(); ++i)
        insertItem(node, list[i]);
}

bool TextReconciler::targetsStay(const YamlNode& node) const
{
    if (node.target)
        return m_new.contains(node.target);
    return std::all_of(node.entries.begin(), node.entries.end(),
                       [this](const YamlEntry& entry) { return targetsStay(*entry.value); });
}

void TextReconciler::mergeInto(const YamlNode& node, Value& merged) const
{
    Value from;
    if (node.target) {
        const auto found = m_new.find(node.target);
        from = found == m_new.end() ? Value() : found->second;
    } else if (node.kind == YamlNode::Kind::List) {
        for (const auto& entry : node.entries)
            mergeInto(*entry.value, merged);
        return;
    } else {
        from = plainValue(node);
    }
    for (const auto& [key, value] : from.asMap())
        if (merged[key].isAbsent())
            merged.map()->emplace_back(key, value);
}

Value TextReconciler::newMerged(const YamlNode& map) const
{
    Value merged{ValueMap{}};
    for (const auto& entry : map.entries)
        if (isMerge(entry))
            mergeInto(*entry.value, merged);
    return merged;
}

} // namespace mantissa
