#include "engine/recipe/path.h"

#include <charconv>

namespace mantissa {

namespace {

Error badPath(std::string_view path, std::string_view why)
{
    return {ErrorCode::InvalidSetup,
            "“" + std::string(path) + "” is no path of a setting: " + std::string(why) + ".",
            "Join keys by dots, as in trainer.precision or trainer.callbacks[EarlyStopping].patience."};
}

std::optional<std::size_t> numberOf(std::string_view text)
{
    std::size_t number = 0;
    const auto* end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data(), end, number);
    return error == std::errc{} && rest == end && !text.empty() ? std::optional(number) : std::nullopt;
}

Result<PathStep> selector(std::string_view path, std::string_view inside)
{
    if (const auto index = numberOf(inside))
        return PathStep{{}, index, false};
    const auto hash = inside.find('#');
    const auto name = inside.substr(0, hash);
    if (name.empty())
        return badPath(path, "the brackets are empty");
    if (hash == std::string_view::npos)
        return PathStep{std::string(name), 0, true};
    const auto which = numberOf(inside.substr(hash + 1));
    if (!which || *which == 0)
        return badPath(path, "after # stands a number from 1");
    return PathStep{std::string(name), *which - 1, true};
}

Result<std::string> quotedKey(std::string_view path, std::size_t& at)
{
    std::string key;
    for (++at; at < path.size() && path[at] != '"'; ++at) {
        if (path[at] == '\\' && at + 1 < path.size())
            ++at;
        key += path[at];
    }
    if (at == path.size())
        return badPath(path, "a quotation mark is not closed");
    ++at;
    return key;
}

std::string quotedIfOdd(std::string_view key)
{
    if (!key.empty() && key.find_first_of(".[]\"\\") == std::string_view::npos)
        return std::string(key);
    std::string text = "\"";
    for (const char c : key) {
        if (c == '"' || c == '\\')
            text += '\\';
        text += c;
    }
    return text + "\"";
}

} // namespace

Result<std::vector<PathStep>> parsePath(std::string_view path)
{
    std::vector<PathStep> steps;
    std::size_t at = 0;
    while (at < path.size()) {
        if (path[at] == '[') {
            const auto close = path.find(']', at);
            if (close == std::string_view::npos)
                return badPath(path, "a bracket is not closed");
            auto step = selector(path, path.substr(at + 1, close - at - 1));
            if (!step)
                return step.error();
            steps.push_back(std::move(*step));
            at = close + 1;
        } else {
            if (!steps.empty() && path[at++] != '.')
                return badPath(path, "a dot is missing");
            std::string key;
            if (at < path.size() && path[at] == '"') {
                auto odd = quotedKey(path, at);
                if (!odd)
                    return odd.error();
                key = std::move(*odd);
            } else {
                const auto end = std::min(path.find_first_of(".[", at), path.size());
                key = path.substr(at, end - at);
                at = end;
                if (key.empty())
                    return badPath(path, "a key is empty");
            }
            steps.push_back({std::move(key), std::nullopt, false});
        }
    }
    return steps;
}

std::string joinPath(std::string_view parent, std::string_view key)
{
    return parent.empty() ? quotedIfOdd(key) : std::string(parent) + "." + quotedIfOdd(key);
}

std::string joinPath(std::string_view parent, std::size_t index)
{
    return std::string(parent) + "[" + std::to_string(index) + "]";
}

std::string pathText(const std::vector<PathStep>& steps)
{
    std::string text;
    for (const auto& step : steps) {
        if (step.isKey())
            text = joinPath(text, step.key);
        else if (!step.ofClass)
            text = joinPath(text, *step.index);
        else
            text += "[" + step.key + (*step.index > 0 ? "#" + std::to_string(*step.index + 1) : std::string())
                + "]";
    }
    return text;
}

std::string_view shortClassName(std::string_view classPath)
{
    const auto dot = classPath.rfind('.');
    return dot == std::string_view::npos ? classPath : classPath.substr(dot + 1);
}

} // namespace mantissa
