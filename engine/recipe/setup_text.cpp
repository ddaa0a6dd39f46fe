#include "engine/recipe/setup_text.h"

#include "engine/recipe/setup_file.h"
#include "engine/recipe/source_text.h"
#include "engine/recipe/text_reconciler.h"
#include "engine/recipe/yaml_node.h"
#include "engine/recipe/yaml_writer.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

namespace mantissa {

namespace {

bool sameMaps(const ValueMap& a, const ValueMap& b)
{
    if (a.size() != b.size())
        return false;
    std::unordered_map<std::string_view, const Value*> index;
    for (const auto& [key, value] : b)
        index.emplace(key, &value);
    return std::all_of(a.begin(), a.end(), [&](const auto& entry) {
        const auto found = index.find(entry.first);
        return found != index.end() && sameSettings(entry.second, *found->second);
    });
}

/// A text without any setting yet keeps its comments.
std::string appended(std::string_view text, const Setup& wanted)
{
    auto out = std::string(text);
    if (!out.empty() && out.back() != '\n')
        out += '\n';
    return out + writeSetup(wanted);
}

std::string reconciled(const SourceText& source, const SetupFile& file, const Setup& wanted)
{
    const auto tree = parseYaml(source);
    const auto* root = std::get_if<std::unique_ptr<YamlNode>>(&tree);
    if (!root || !*root || (*root)->kind != YamlNode::Kind::Map)
        return appended(source.text(), wanted);
    if ((*root)->entries.empty()) { // `{}`
        TextChanges changes;
        changes.replace((*root)->begin, (*root)->end, writeSetup(wanted));
        return changes.apply(source.text());
    }
    return TextReconciler(source, **root).changes(file.setup.root(), wanted.root()).apply(source.text());
}

} // namespace

bool sameSettings(const Value& a, const Value& b)
{
    if (a.isMap() && b.isMap())
        return sameMaps(a.asMap(), b.asMap());
    if (a.isList() && b.isList())
        return std::equal(a.asList().begin(), a.asList().end(), b.asList().begin(), b.asList().end(),
                          sameSettings);
    const bool bothNaN = a.isDouble() && b.isDouble() && std::isnan(a.asDouble()) && std::isnan(b.asDouble());
    return bothNaN || a == b;
}

Result<std::string> rewriteSetupText(std::string_view text, const Setup& wanted)
{
    const auto file = readSetup(text);
    if (!file.isReadable())
        return Error{ErrorCode::InvalidSetup,
                     "The text cannot be read, so nothing in it can be changed: "
                         + file.problems.front().message,
                     file.problems.front().hint};
    if (sameSettings(file.setup.root(), wanted.root()))
        return std::string(text);
    const bool oldMac =
        text.find('\n') == std::string_view::npos && text.find('\r') != std::string_view::npos;
    const std::string plain = oldMac ? withoutLoneReturns(text) : std::string(text);
    auto edited = reconciled(SourceText(plain), file, wanted);
    if (oldMac)
        std::replace(edited.begin(), edited.end(), '\n', '\r');
    const auto check = readSetup(edited);
    if (!check.isReadable() || !sameSettings(check.setup.root(), wanted.root()))
        return Error{ErrorCode::InvalidSetup, "This change does not fit into the text as it is written.",
                     "Change it by hand: anchors, merges or unusual keys are in the way."};
    return edited;
}

Result<std::string> editSetupText(std::string_view text, const std::vector<Edit>& edits)
{
    const auto file = readSetup(text);
    const auto wanted = applyEdits(file.setup, edits);
    if (!wanted)
        return wanted.error();
    return rewriteSetupText(text, *wanted);
}

} // namespace mantissa
