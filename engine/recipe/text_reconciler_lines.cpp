// The changes themselves: which bytes go and which come, for maps and lists with and without brackets.
#include "engine/recipe/scalar.h"
#include "engine/recipe/text_reconciler.h"
#include "engine/recipe/yaml_extent.h"

#include <algorithm>

namespace mantissa {

namespace {

/// Nothing but white space, or the sign of a key that stands on its own.
bool isBlank(std::string_view text)
{
    const auto first = text.find_first_not_of(" \t");
    return first == std::string_view::npos
        || (text[first] == '?' && text.find_first_not_of(" \t", first + 1) == std::string_view::npos);
}

bool isBlockContainer(const YamlNode& node)
{
    return (node.kind == YamlNode::Kind::Map || node.kind == YamlNode::Kind::List) && !node.flow;
}

std::size_t endOf(const YamlEntry& entry)
{
    return std::max(entry.value->end, entry.key ? entry.key->end : entry.begin + 1);
}

/// Behind the colon of a key; nothing where a key has none, as in `{key}`.
std::size_t behindColon(std::string_view text, const YamlEntry& entry)
{
    if (!entry.key)
        return std::string_view::npos;
    const auto at = skipBlank(text, entry.key->end);
    return at < text.size() && text[at] == ':' ? at + 1 : std::string_view::npos;
}

} // namespace

std::size_t TextReconciler::indentOf(std::size_t offset) const
{
    const auto line = m_source.line(m_source.lineOf(offset));
    const auto first = line.find_first_not_of(' ');
    if (first < line.size() && line[first] == '?') // The sign stands where other keys do.
        return first;
    return m_source.point(offset).column - 1;
}

std::size_t TextReconciler::detectStep() const
{
    for (const auto& entry : m_root.entries)
        if (entry.key && entry.value->kind == YamlNode::Kind::Map && isBlockContainer(*entry.value)
            && !entry.value->entries.empty()) {
            const auto inner = indentOf(entry.value->entries.front().begin);
            if (inner > indentOf(entry.begin))
                return inner - indentOf(entry.begin);
        }
    return BlockStyle{}.step;
}

void TextReconciler::insertLines(std::size_t after, std::string lines)
{
    const auto at = m_source.lineEnd(m_source.lineOf(after));
    const bool open = at == m_text.size() && (at == 0 || m_text[at - 1] != '\n');
    if (open)
        lines = std::string(m_style.lineBreak) + lines.substr(0, lines.size() - m_style.lineBreak.size());
    m_changes.insert(at, std::move(lines));
}

void TextReconciler::insertEntry(const YamlNode& map, std::string_view key, const Value& value)
{
    const auto end = endOf(map.entries.back());
    auto style = m_style;
    style.indent = indentOf(map.entries.front().begin);
    if (map.flow)
        m_changes.insert(end, ", " + keyText(key) + ": " + value.text());
    else
        insertLines(end, blockEntry(key, value, style));
}

void TextReconciler::insertItem(const YamlNode& list, const Value& value)
{
    const auto end = endOf(list.entries.back());
    auto style = m_style;
    style.indent = indentOf(list.entries.front().begin);
    if (list.flow)
        m_changes.insert(end, ", " + value.text());
    else
        insertLines(end, blockItem(value, style));
}

void TextReconciler::removeEntry(const YamlNode& parent, std::size_t index)
{
    const auto& entry = parent.entries[index];
    const auto end = endOf(entry);
    const bool isLast = index + 1 == parent.entries.size();
    const auto lineBegin = m_source.lineBegin(m_source.lineOf(entry.begin));
    if (parent.flow && isLast && index > 0)
        m_changes.remove(endOf(parent.entries[index - 1]), end);
    else if (!parent.flow && isBlank(m_text.substr(lineBegin, entry.begin - lineBegin)))
        m_changes.remove(lineBegin, m_source.lineEnd(m_source.lineOf(end)));
    else if (!isLast) // Within brackets, or beside a dash: what comes next takes the place.
        m_changes.remove(entry.begin, parent.entries[index + 1].begin);
    else
        m_changes.remove(entry.begin, end);
}

void TextReconciler::replace(const YamlNode& node, const Value& wanted, Place place)
{
    const auto colon = place.entry ? behindColon(m_text, *place.entry) : std::string_view::npos;
    const bool found = colon != std::string_view::npos;
    if (found && !place.inFlow && (isBlockContainer(node) || isFilled(wanted))) {
        replaceInBlock(node, wanted, *place.entry, colon);
        return;
    }
    auto text = wanted.text();
    if (node.begin == node.end && place.entry && place.entry->key)
        text = (found ? " " : ": ") + text;
    else if (node.begin == node.end)
        text = " " + text;
    else if (m_text[node.begin] == '|' || m_text[node.begin] == '>')
        text = wanted.isString() ? quotedIfNeeded(wanted.asString()) : text;
    m_changes.replace(node.tag.empty() ? node.begin : node.mark, node.end, std::move(text));
}

void TextReconciler::replaceInBlock(const YamlNode& node, const Value& wanted, const YamlEntry& entry,
                                    std::size_t colon)
{
    auto style = m_style;
    style.indent = indentOf(entry.begin);
    const auto whole = blockEntry(entry.key->text, wanted, style);
    const auto headEnd = whole.find(style.lineBreak) + style.lineBreak.size();
    const auto headColon = style.indent + keyText(entry.key->text).size() + 1;
    const auto head =
        whole.substr(headColon, headEnd - style.lineBreak.size() - headColon); // " value" or nothing
    const auto line = m_source.lineOf(node.begin);
    const bool below = isBlockContainer(node) && line > m_source.lineOf(colon) && node.mark == node.begin;
    if (below) { // The comment behind the key stays.
        if (!head.empty())
            m_changes.insert(colon, head);
        m_changes.remove(m_source.lineBegin(line), m_source.lineEnd(m_source.lineOf(node.end)));
    } else {
        m_changes.replace(colon, std::max(node.end, colon), head);
    }
    if (headEnd < whole.size())
        insertLines(std::max(node.end, colon), whole.substr(headEnd));
}

} // namespace mantissa
