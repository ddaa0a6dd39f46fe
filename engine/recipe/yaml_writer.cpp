#include "engine/recipe/yaml_writer.h"

#include "engine/recipe/scalar.h"
#include "engine/recipe/setup_text.h"

#include <algorithm>

namespace mantissa {

namespace {

constexpr std::size_t kDash = 2; ///< "- "

bool holdsOnlyScalars(const Value& value)
{
    const auto& list = value.asList();
    return value.isList() && std::none_of(list.begin(), list.end(), isFilled);
}

BlockStyle deeper(BlockStyle style, std::size_t by)
{
    style.indent += by;
    return style;
}

} // namespace

bool isFilled(const Value& value)
{
    return !value.asList().empty() || !value.asMap().empty();
}

std::string blockEntry(std::string_view key, const Value& value, BlockStyle style)
{
    auto head = std::string(style.indent, ' ') + keyText(key) + ":";
    if (!isFilled(value) || holdsOnlyScalars(value)) {
        head += " " + (value.isAbsent() ? std::string("null") : value.text());
        return head.append(style.lineBreak);
    }
    head.append(style.lineBreak);
    return head + blockLines(value, deeper(style, style.step));
}

std::string blockItem(const Value& value, BlockStyle style)
{
    const auto dash = std::string(style.indent, ' ') + "- ";
    if (!value.isMap() || !isFilled(value))
        return (dash + (value.isAbsent() ? std::string("null") : value.text())).append(style.lineBreak);
    // The first key stands beside the dash.
    return dash + blockLines(value, deeper(style, kDash)).substr(style.indent + kDash);
}

std::string blockLines(const Value& value, BlockStyle style)
{
    std::string text;
    for (const auto& [key, inner] : value.asMap())
        text += blockEntry(key, inner, style);
    for (const auto& item : value.asList())
        text += blockItem(item, style);
    return text;
}

std::string writeSetup(const Setup& setup)
{
    return blockLines(setup.root(), {});
}

} // namespace mantissa
