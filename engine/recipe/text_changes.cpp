#include "engine/recipe/text_changes.h"

#include <algorithm>

namespace mantissa {

std::string TextChanges::apply(std::string_view text) const
{
    auto changes = m_changes;
    std::stable_sort(changes.begin(), changes.end(),
                     [](const auto& a, const auto& b) { return a.begin < b.begin; });
    std::string out;
    std::size_t at = 0;
    for (const auto& change : changes) {
        if (change.begin > at)
            out += text.substr(at, change.begin - at);
        out += change.text;
        at = std::max(at, change.end); // A change inside a removed part only adds its text.
    }
    return out.append(text.substr(std::min(at, text.size())));
}

} // namespace mantissa
