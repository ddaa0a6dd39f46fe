#pragma once

#include <string>

namespace mantissa {

/// "a, b, c" of what `word` makes of each.
template <typename Range, typename Word>
std::string listed(const Range& all, Word word)
{
    std::string text;
    for (const auto& each : all)
        text += (text.empty() ? "" : ", ") + std::string(word(each));
    return text;
}

template <typename Range>
std::string listed(const Range& words)
{
    return listed(words, [](const auto& word) { return word; });
}

} // namespace mantissa
