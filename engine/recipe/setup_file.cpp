#include "engine/recipe/setup_file.h"

#include "engine/recipe/field.h"
#include "engine/recipe/known_keys.h"
#include "engine/recipe/object_shapes.h"
#include "engine/recipe/path.h"
#include "engine/recipe/scalar.h"
#include "engine/recipe/source_text.h"
#include "engine/recipe/yaml_node.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <unordered_map>
#include <unordered_set>

namespace mantissa {

namespace {

constexpr std::size_t kMostBytes = 4u << 20;
constexpr std::string_view kYamlTag = "tag:yaml.org,2002:";

/// Turns the tree of the text into settings: aliases and merges expanded, the last of duplicate keys taken.
class Composer {
    using Positions = std::unordered_map<std::string, std::size_t>;
    using Entries = std::unordered_map<std::string, const YamlEntry*>;

public:
    Composer(const SourceText& source, SetupFile& file) : m_source(source), m_file(file) {}

    Value compose(const YamlNode& node, const std::string& path)
    {
        noteTag(node, path);
        switch (node.kind) {
        case YamlNode::Kind::Alias:
            return aliased(node, path);
        case YamlNode::Kind::Map:
            return map(node, path);
        case YamlNode::Kind::List:
            return list(node, path);
        default:
            return scalar(node, path);
        }
    }

private:
    Value aliased(const YamlNode& alias, const std::string& path)
    {
        const auto* outer = m_alias;
        m_alias = m_alias ? m_alias : &alias;
        auto value = compose(*alias.target, path);
        m_alias = outer;
        return value;
    }

    Value scalar(const YamlNode& node, const std::string& path) const
    {
        if (node.tag == std::string(kYamlTag) + "str")
            return node.text;
        if (node.plain || node.tag.starts_with(kYamlTag))
            return resolveScalar(node.text);
        // LightningCLI reads a quoted number as one where the setting is a number.
        const auto* field = fieldAt(path);
        const bool numeric = field && (field->type == FieldType::Number || field->type == FieldType::Integer);
        if (const auto value = resolveScalar(node.text); numeric && value.isNumber())
            return value;
        return node.text;
    }

    Value list(const YamlNode& node, const std::string& path)
    {
        ValueList list;
        for (const auto& entry : node.entries) {
            const auto inner = joinPath(path, list.size());
            place(inner, *entry.value, *entry.value);
            list.push_back(compose(*entry.value, inner));
        }
        return list;
    }

    Value map(const YamlNode& node, const std::string& path)
    {
        ValueMap map;
        for (const auto& entry : node.entries)
            if (isMerge(entry))
                merge(*entry.value, path, map);
        Positions positions; // A file may have a hundred thousand keys: look them up, do not search.
        for (std::size_t i = 0; i < map.size(); ++i)
            positions.emplace(map[i].first, i);
        const auto last = lastEntries(node, path);
        for (const auto& entry : node.entries)
            if (!isMerge(entry) && keyOf(entry))
                put(map, positions, entry, last.at(keyOf(entry)->text) == &entry, path);
        return map;
    }

    /// Which entry of each key counts. What the others say is lost, and said so.
    Entries lastEntries(const YamlNode& node, const std::string& path)
    {
        Entries last;
        for (const auto& entry : node.entries) {
            if (isMerge(entry))
                continue;
            const auto* key = keyOf(entry);
            if (!key) {
                note("key_not_scalar", ProblemGrade::Error, path, *entry.key,
                     "A key of a set-up is a word, not a list or a map.",
                     "Quote it if it is meant as a word.");
                continue;
            }
            const auto [known, isNew] = last.emplace(key->text, &entry);
            if (!isNew) {
                noteDuplicate(*known->second, entry, joinPath(path, key->text));
                known->second = &entry;
            }
        }
        return last;
    }

    void put(ValueMap& map, Positions& positions, const YamlEntry& entry, bool counts,
             const std::string& path)
    {
        const auto& key = keyOf(entry)->text;
        const auto [position, isNew] = positions.emplace(key, map.size());
        if (isNew)
            map.emplace_back(key, Value());
        if (!counts)
            return;
        const auto inner = joinPath(path, key);
        place(inner, *entry.key, *entry.value);
        map[position->second].second = compose(*entry.value, inner);
    }

    /// The key as a word; null where it is none.
    static const YamlNode* keyOf(const YamlEntry& entry)
    {
        const auto* key = entry.key->kind == YamlNode::Kind::Alias ? entry.key->target : entry.key.get();
        return key->kind == YamlNode::Kind::Scalar ? key : nullptr;
    }

    static bool isMerge(const YamlEntry& entry)
    {
        return entry.key->kind == YamlNode::Kind::Scalar && entry.key->plain && entry.key->text == "<<";
    }

    /// `<<` takes a map or a list of maps; the first that has a key wins, and own keys win over all.
    void merge(const YamlNode& node, const std::string& path, ValueMap& map)
    {
        const auto& source = node.kind == YamlNode::Kind::Alias ? *node.target : node;
        const auto* outer = m_alias;
        if (source.kind != YamlNode::Kind::List || node.kind == YamlNode::Kind::Alias)
            m_alias = m_alias ? m_alias : &node;
        if (source.kind == YamlNode::Kind::Map) {
            const auto merged = this->map(source, path);
            std::unordered_set<std::string> known;
            for (const auto& [key, value] : map)
                known.insert(key);
            for (const auto& [key, value] : merged.asMap())
                if (known.insert(key).second)
                    map.emplace_back(key, value);
        } else if (source.kind == YamlNode::Kind::List) {
            for (const auto& entry : source.entries)
                merge(*entry.value, path, map);
        } else {
            note("bad_merge", ProblemGrade::Error, path, node,
                 "“<<” merges a map or a list of maps, and this is neither.",
                 "Point it at an anchor of a map.");
        }
        m_alias = outer;
    }

    void place(const std::string& path, const YamlNode& key, const YamlNode& value)
    {
        if (m_alias) { // Several maps may be merged; the first that has the key is the one that counts.
            const auto span = m_source.span(m_alias->begin, m_alias->end);
            if (const auto* known = m_file.map.find(path); !known || !known->alias)
                m_file.map.add(path, {span, span, true});
            return;
        }
        m_file.map.add(path,
                       {m_source.span(key.begin, key.end), m_source.span(value.begin, value.end),
                        value.kind == YamlNode::Kind::Alias});
    }

    void note(std::string id, ProblemGrade grade, const std::string& path, const YamlNode& node,
              std::string message, std::string hint)
    {
        const auto& at = m_alias ? *m_alias : node;
        m_file.problems.push_back({std::move(id), grade, path, m_source.span(at.begin, at.end),
                                   std::move(message), std::move(hint)});
    }

    void noteTag(const YamlNode& node, const std::string& path)
    {
        constexpr std::array<std::string_view, 7> kKnown = {"str",  "int", "float", "bool",
                                                            "null", "map", "seq"};
        const std::string_view tag = node.tag;
        if (tag.empty() || m_alias)
            return;
        if (tag.starts_with(kYamlTag)
            && std::find(kKnown.begin(), kKnown.end(), tag.substr(kYamlTag.size())) != kKnown.end())
            return;
        const auto shown =
            tag.starts_with(kYamlTag) ? "!!" + std::string(tag.substr(kYamlTag.size())) : std::string(tag);
        note(
            "tag", ProblemGrade::Error, path, node,
            "The tag " + shown
                + " asks for an object to be made while reading. Nothing was made: it is kept as plain data.",
            "Name a class with class_path and init_args instead.");
    }

    void noteDuplicate(const YamlEntry& earlier, const YamlEntry& entry, const std::string& path)
    {
        const auto first = m_source.point(earlier.begin).line;
        const auto second = m_source.point(entry.begin).line;
        note("duplicate_key", ProblemGrade::Warning, path, *entry.key,
             "“" + path + "” stands twice, on lines " + std::to_string(first) + " and "
                 + std::to_string(second) + ": only the second counts" + lost(earlier, entry) + ".",
             "Keep one of the two, or join them.");
    }

    /// What the earlier value says and the later does not repeat.
    static std::string lost(const YamlEntry& earlier, const YamlEntry& entry)
    {
        if (earlier.value->kind == YamlNode::Kind::Scalar)
            return ", and " + resolveScalar(earlier.value->text).text() + " is lost";
        std::string names;
        for (const auto& inner : earlier.value->entries) {
            const auto& later = entry.value->entries;
            const bool again = inner.key && std::any_of(later.begin(), later.end(), [&](const auto& other) {
                                   return other.key && other.key->text == inner.key->text;
                               });
            if (inner.key && !again)
                names += (names.empty() ? "" : ", ") + inner.key->text;
        }
        return names.empty() ? "" : ", and " + names + " of the first are lost";
    }

    const SourceText& m_source;
    SetupFile& m_file;
    const YamlNode* m_alias = nullptr; ///< The outermost alias that is being written out.
};

/// Sections whose text gives no settings. A class may be named by a bare word, and any section left empty.
void addSectionsOfOtherKinds(SetupFile& file)
{
    constexpr std::array<std::string_view, 5> kPlain = {"trainer", "mantissa", "mantissa.fabric",
                                                        "mantissa.scaler", "mantissa.facts"};
    constexpr std::array<std::string_view, 4> kClasses = {"model", "data", "optimizer", "lr_scheduler"};
    const auto add = [&](std::string_view section, const char* message) {
        const auto* entry = file.map.find(section);
        file.problems.push_back({"not_a_section", ProblemGrade::Error, std::string(section),
                                 entry ? entry->value : SourceSpan{}, "“" + std::string(section) + message,
                                 "Indent its settings below it, or remove it."});
    };
    for (const auto section : kPlain)
        if (const auto& value = file.setup.at(section); value.isSet() && !value.isMap())
            add(section, "” is a map of settings, and this is something else.");
    for (const auto section : kClasses)
        if (const auto& value = file.setup.at(section); value.isSet() && !value.isMap() && !value.isString())
            add(section, "” names a class and its arguments, and this is something else.");
}

void addOddShapes(SetupFile& file)
{
    for (auto& odd : oddShapes(file.setup)) {
        const auto* entry = file.map.nearest(odd.path);
        file.problems.push_back({"not_a_class", ProblemGrade::Error, odd.path,
                                 entry ? entry->value : SourceSpan{}, std::move(odd.message),
                                 std::move(odd.hint)});
    }
}

void addUnknownKeys(SetupFile& file)
{
    for (auto& unknown : unknownKeys(file.setup)) {
        const auto* entry = file.map.find(unknown.path);
        file.problems.push_back({"unknown_key", ProblemGrade::Error, unknown.path,
                                 entry ? entry->key : SourceSpan{}, std::move(unknown.message),
                                 std::move(unknown.hint)});
    }
}

SetupFile unreadableFile(SourceProblem problem)
{
    SetupFile file;
    file.problems.push_back(std::move(problem));
    return file;
}

} // namespace

bool SetupFile::isReadable() const
{
    return std::none_of(problems.begin(), problems.end(),
                        [](const auto& problem) { return problem.grade == ProblemGrade::Unreadable; });
}

SetupFile readSetup(std::string_view text)
{
    const SourceText source(text);
    if (auto problem = unreadableText(source))
        return unreadableFile(std::move(*problem));
    auto tree = parseYaml(source);
    if (auto* problem = std::get_if<SourceProblem>(&tree))
        return unreadableFile(std::move(*problem));
    const auto& root = std::get<std::unique_ptr<YamlNode>>(tree);
    SetupFile file;
    if (!root || (root->kind == YamlNode::Kind::Scalar && root->plain && resolveScalar(root->text).isNull()))
        return file;
    if (root->kind != YamlNode::Kind::Map)
        return unreadableFile({"not_a_map",
                               ProblemGrade::Unreadable,
                               {},
                               source.span(root->begin, root->end),
                               "A set-up is a map of sections, and this is something else.",
                               "Begin with a section such as trainer:, with its settings indented below."});
    file.map.add({}, {source.span(root->begin, root->begin), source.span(root->begin, root->end), false});
    file.setup = Setup(Composer(source, file).compose(*root, {}));
    addSectionsOfOtherKinds(file);
    addOddShapes(file);
    addUnknownKeys(file);
    std::stable_sort(file.problems.begin(), file.problems.end(),
                     [](const auto& a, const auto& b) { return a.span.begin.offset < b.span.begin.offset; });
    return file;
}

Result<std::string> readSetupText(const std::filesystem::path& path)
{
    std::error_code failed;
    if (std::filesystem::is_directory(path, failed))
        return Error{ErrorCode::Io, path.string() + " is a folder.", "Name a file in it."};
    std::ifstream stream(path, std::ios::binary);
    if (!stream)
        return Error{ErrorCode::NotFound, path.string() + " cannot be opened.",
                     "Check the name, and that you may read it."};
    std::string text(kMostBytes + 1, '\0'); // One byte more, so that a larger file is seen to be one.
    stream.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(stream.gcount()));
    return text;
}

} // namespace mantissa
