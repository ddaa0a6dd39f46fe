#include "engine/recipe/yaml_node.h"

#include "engine/recipe/yaml_extent.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <map>
#include <sstream>

namespace mantissa {

namespace {

constexpr std::size_t kMostDepth = 100;
constexpr std::size_t kMostNodes = 100'000;
constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

/// Leaves the parser, which has no other way out of an event.
struct Refusal {
    SourceProblem problem;
};

class TreeBuilder : public YAML::EventHandler {
public:
    explicit TreeBuilder(const SourceText& source)
        : m_source(source), m_text(source.text()), m_shift(m_text.starts_with(kByteOrderMark) ? 3 : 0)
    {
    }

    std::unique_ptr<YamlNode> take() { return std::move(m_root); }

    void OnDocumentStart(const YAML::Mark& mark) override
    {
        if (m_documents++ > 0)
            refuse("second_document", documentLine(offset(mark)),
                   "A second document begins here. A set-up is one document.",
                   "Remove the line with --- or keep the documents in files of their own.");
    }
    void OnDocumentEnd() override {}

    void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override
    {
        auto node = make(YamlNode::Kind::Scalar, mark, anchor, {});
        node->plain = true;
        const auto word = nullWord(node->begin);
        if (word.empty())
            node->begin = emptyPlace(node->begin);
        node->text = word;
        node->end = node->begin + word.size();
        finish(std::move(node), anchor);
    }

    void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override
    {
        auto node = make(YamlNode::Kind::Alias, mark, 0, {});
        node->end = aliasEnd(m_text, node->begin);
        const auto target = m_anchors.find(anchor);
        if (target == m_anchors.end())
            refuse("cycle", node->begin, "This alias stands inside the value that it stands for.",
                   "Write the value out instead of the alias.");
        node->target = target->second;
        node->weight = target->second->weight;
        finish(std::move(node), 0);
    }

    void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  const std::string& text) override
    {
        auto node = make(YamlNode::Kind::Scalar, mark, anchor, tag);
        node->text = text;
        const char first = node->begin < m_text.size() ? m_text[node->begin] : ' ';
        node->plain = first != '"' && first != '\'' && first != '|' && first != '>';
        const auto end = scalarEnd(m_text, node->begin, text);
        if (!end)
            refuse("not_yaml", node->begin, "This quotation mark is not closed.",
                   "Close it where the text ends.");
        node->end = *end;
        finish(std::move(node), anchor);
    }

    void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                         YAML::EmitterStyle::value style) override
    {
        open(YamlNode::Kind::List, mark, tag, anchor, style);
    }
    void OnSequenceEnd() override { close(']'); }

    void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                    YAML::EmitterStyle::value style) override
    {
        open(YamlNode::Kind::Map, mark, tag, anchor, style);
    }
    void OnMapEnd() override { close('}'); }

private:
    struct Open {
        std::unique_ptr<YamlNode> node;
        YAML::anchor_t anchor = 0;
        std::unique_ptr<YamlNode> key;
        std::size_t inside = 0; ///< Behind the last entry.
    };

    std::size_t offset(const YAML::Mark& mark) const
    {
        return std::min(static_cast<std::size_t>(std::max(mark.pos, 0)) + m_shift, m_text.size());
    }

    [[noreturn]] void refuse(std::string id, std::size_t at, std::string message, std::string hint) const
    {
        throw Refusal{{std::move(id),
                       ProblemGrade::Unreadable,
                       {},
                       m_source.span(at, at),
                       std::move(message),
                       std::move(hint)}};
    }

    /// The parser reports what follows the line with the dashes.
    std::size_t documentLine(std::size_t at) const
    {
        auto line = m_source.lineOf(at);
        while (line > 0 && !m_source.line(line).starts_with("---"))
            --line;
        return line > 0 ? m_source.lineBegin(line) : at;
    }

    std::unique_ptr<YamlNode> make(YamlNode::Kind kind, const YAML::Mark& mark, YAML::anchor_t anchor,
                                   std::string_view tag) const
    {
        auto node = std::make_unique<YamlNode>();
        node->kind = kind;
        node->mark = offset(mark);
        if (tag != "?" && tag != "!")
            node->tag = tag;
        node->begin = anchor || !node->tag.empty() ? skipProperties(m_text, node->mark) : node->mark;
        return node;
    }

    std::string_view nullWord(std::size_t at) const
    {
        for (const std::string_view word : {"~", "null", "Null", "NULL"})
            if (m_text.substr(at).starts_with(word)) {
                const auto next = at + word.size();
                if (next >= m_text.size()
                    || std::string_view(" \t\r\n,]}:").find(m_text[next]) != std::string_view::npos)
                    return m_text.substr(at, word.size());
            }
        return {};
    }

    /// An empty value is reported at the token that follows it; its place is behind the colon or the dash.
    std::size_t emptyPlace(std::size_t reported) const
    {
        if (m_open.empty())
            return reported;
        const auto& parent = m_open.back();
        const auto after = parent.key ? parent.key->end : parent.inside;
        const char sign = parent.key ? ':' : '-';
        const auto at = skipBlank(m_text, after);
        return at < m_text.size() && at < reported && m_text[at] == sign ? at + 1 : std::min(after, reported);
    }

    void open(YamlNode::Kind kind, const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
              YAML::EmitterStyle::value style)
    {
        auto node = make(kind, mark, anchor, tag);
        if (m_open.size() >= kMostDepth)
            refuse("too_deep", node->begin, "More than 100 levels of nesting.",
                   "Check that this is the right file.");
        node->flow = style == YAML::EmitterStyle::Flow;
        // `[a: 1]` holds a map without braces.
        const bool bracket = node->flow && node->begin < m_text.size()
            && (m_text[node->begin] == '{' || m_text[node->begin] == '[');
        const auto inside = node->begin + (bracket ? 1 : 0);
        m_open.push_back({std::move(node), anchor, nullptr, inside});
    }

    void close(char closing)
    {
        auto done = std::move(m_open.back());
        m_open.pop_back();
        auto& node = *done.node;
        node.end = std::max(done.inside, node.begin);
        if (node.flow && done.inside > node.begin
            && std::string_view("[{").find(m_text[node.begin]) != std::string_view::npos
            && isBracketOf(node, closing)) {
            const auto end = flowEnd(m_text, done.inside, closing);
            if (!end)
                refuse("not_yaml", node.begin, "This bracket is not closed.",
                       "Close it where the value ends.");
            node.end = *end;
        }
        finish(std::move(done.node), done.anchor);
    }

    bool isBracketOf(const YamlNode& node, char closing) const
    {
        return m_text[node.begin] == (closing == ']' ? '[' : '{');
    }

    void count(std::size_t weight, std::size_t at)
    {
        m_nodes += weight; // Each weight is below the limit, so this cannot wrap.
        if (m_nodes > kMostNodes)
            refuse("too_many_nodes", at, "More than 100,000 values once aliases are written out.",
                   "Check that this is the right file; aliases of aliases multiply.");
    }

    void finish(std::unique_ptr<YamlNode> node, YAML::anchor_t anchor)
    {
        count(node->kind == YamlNode::Kind::Alias ? node->weight : 1, node->begin);
        if (anchor)
            m_anchors[anchor] = node.get();
        if (m_open.empty()) {
            m_root = std::move(node);
            return;
        }
        auto& parent = m_open.back();
        parent.node->weight += node->weight;
        if (parent.node->kind == YamlNode::Kind::Map && !parent.key) {
            parent.key = std::move(node);
            return;
        }
        YamlEntry entry;
        entry.begin = parent.key ? parent.key->mark : entryBegin(parent, *node);
        parent.inside = std::max(node->end, parent.key ? parent.key->end : std::size_t{0});
        entry.key = std::move(parent.key);
        entry.value = std::move(node);
        parent.node->entries.push_back(std::move(entry));
    }

    std::size_t entryBegin(const Open& parent, const YamlNode& node) const
    {
        if (parent.node->flow)
            return node.mark;
        const auto dash = skipBlank(m_text, parent.inside);
        return dash < m_text.size() && m_text[dash] == '-' ? dash : node.mark;
    }

    const SourceText& m_source;
    std::string_view m_text;
    std::size_t m_shift;
    std::unique_ptr<YamlNode> m_root;
    std::vector<Open> m_open;
    std::map<YAML::anchor_t, const YamlNode*> m_anchors;
    std::size_t m_nodes = 0;
    int m_documents = 0;
};

bool hasTabIndentation(std::string_view line)
{
    const auto first = line.find_first_not_of(" \t");
    return first != std::string_view::npos && line.substr(0, first).find('\t') != std::string_view::npos;
}

SourceProblem tabProblem(const SourceText& source, std::size_t line)
{
    const auto at = source.lineBegin(line) + source.line(line).find('\t');
    return {"tab_indentation",
            ProblemGrade::Unreadable,
            {},
            source.span(at, at + 1),
            "This line is indented with a tab, which YAML does not allow.",
            "Indent with spaces."};
}

SourceProblem parserProblem(const SourceText& source, const YAML::Exception& e, std::size_t shift)
{
    const bool placed = !e.mark.is_null();
    const auto at = placed ? std::min(static_cast<std::size_t>(e.mark.pos) + shift, source.text().size()) : 0;
    const auto line = source.lineOf(at);
    for (auto i = line > 0 ? line - 1 : 0; i <= line; ++i)
        if (hasTabIndentation(source.line(i)))
            return tabProblem(source, i);
    return {"not_yaml",
            ProblemGrade::Unreadable,
            {},
            source.span(at, at),
            "The text cannot be read as YAML from here on: " + e.msg + ".",
            "Check the indentation and the colons of this line and of the one above."};
}

void collectFreeSpans(const YamlNode& node, std::vector<std::pair<std::size_t, std::size_t>>& spans)
{
    if (node.flow || node.kind == YamlNode::Kind::Scalar) {
        spans.emplace_back(node.begin, node.end);
        return;
    }
    for (const auto& entry : node.entries) {
        if (entry.key)
            collectFreeSpans(*entry.key, spans);
        collectFreeSpans(*entry.value, spans);
    }
}

/// The parser lets some tabs pass that PyYAML refuses: those in front of a block's key or dash.
std::optional<SourceProblem> tabIndentation(const SourceText& source, const YamlNode& root)
{
    std::vector<std::pair<std::size_t, std::size_t>> free; // In the order of the file.
    collectFreeSpans(root, free);
    for (std::size_t line = 0; line < source.lineCount(); ++line) {
        const auto text = source.line(line);
        const auto first = text.find_first_not_of(" \t");
        if (!hasTabIndentation(text) || text[first] == '#')
            continue;
        const auto at = source.lineBegin(line);
        const auto next = std::upper_bound(free.begin(), free.end(), std::pair(at, source.text().size()));
        const bool inside =
            next != free.begin() && std::prev(next)->first < at && at < std::prev(next)->second;
        if (!inside)
            return tabProblem(source, line);
    }
    return std::nullopt;
}

} // namespace

YamlTree parseYaml(const SourceText& original)
{
    const std::string plain = withoutLoneReturns(original.text());
    const SourceText source(plain);
    TreeBuilder builder(source);
    const auto text = source.text();
    const std::size_t shift = text.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0;
    try {
        std::istringstream stream{std::string(text.substr(shift))};
        YAML::Parser parser(stream);
        while (parser.HandleNextDocument(builder)) {}
    } catch (const Refusal& refusal) {
        return refusal.problem;
    } catch (const YAML::Exception& e) {
        return parserProblem(source, e, shift);
    }
    auto root = builder.take();
    if (root)
        if (auto tab = tabIndentation(source, *root))
            return *tab;
    return root;
}

} // namespace mantissa
