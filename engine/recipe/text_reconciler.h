#pragma once

#include "engine/recipe/source_text.h"
#include "engine/recipe/text_changes.h"
#include "engine/recipe/value.h"
#include "engine/recipe/yaml_node.h"
#include "engine/recipe/yaml_writer.h"

#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

namespace mantissa {

/// Walks a text's tree beside what it says now and what it is to say, and notes the smallest changes that
/// make them agree.
class TextReconciler {
public:
    TextReconciler(const SourceText& source, const YamlNode& root);

    TextChanges changes(const Value& now, const Value& wanted);

private:
    /// Where a node stands: under which key or dash, and whether within brackets.
    struct Place {
        const YamlEntry* entry = nullptr;
        bool inFlow = false;
    };

    void visit(const YamlNode& node, const Value& now, const Value& wanted, Place place);
    void visitMap(const YamlNode& node, const Value& now, const Value& wanted, Place place);
    void visitList(const YamlNode& node, const Value& now, const Value& wanted, Place place);

    void replace(const YamlNode& node, const Value& wanted, Place place);
    void replaceInBlock(const YamlNode& node, const Value& wanted, const YamlEntry& entry,
                        std::size_t behindColon);
    void insertEntry(const YamlNode& map, std::string_view key, const Value& value);
    void insertItem(const YamlNode& list, const Value& value);
    void removeEntry(const YamlNode& parent, std::size_t index);

    bool canBeWalked(const YamlNode& node, const Value& wanted) const;
    /// Every key that the merges of a map give is wanted.
    bool mergesStay(const YamlNode& node, const Value& wanted) const;
    /// What the aliases in a merge stand for is still in the text.
    bool targetsStay(const YamlNode& node) const;
    /// What the merges of a map give once the changes are made.
    Value newMerged(const YamlNode& map) const;
    void mergeInto(const YamlNode& node, Value& merged) const;
    std::size_t indentOf(std::size_t offset) const;
    std::size_t detectStep() const;
    void insertLines(std::size_t after, std::string lines);

    const SourceText& m_source;
    std::string_view m_text;
    const YamlNode& m_root;
    BlockStyle m_style;
    TextChanges m_changes;
    std::unordered_set<const YamlNode*> m_targets; ///< Nodes that aliases stand for.
    std::unordered_map<const YamlNode*, Value> m_new; ///< Their new values; missing: no longer in the text.
};

} // namespace mantissa
