#include "engine/recipe/source_map.h"

namespace mantissa {

const SourceMap::Entry* SourceMap::find(std::string_view path) const
{
    const auto found = m_entries.find(path);
    return found == m_entries.end() ? nullptr : &found->second;
}

const SourceMap::Entry* SourceMap::nearest(std::string_view path) const
{
    for (;;) {
        if (const auto* entry = find(path))
            return entry;
        if (path.empty())
            return nullptr;
        const auto cut = path.find_last_of(".[");
        path = cut == std::string_view::npos ? std::string_view{} : path.substr(0, cut);
    }
}

} // namespace mantissa
