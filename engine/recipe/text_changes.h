#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace mantissa {

/// Changes of one text, collected first and made at once, so that all offsets are those of the old text.
class TextChanges {
public:
    void replace(std::size_t begin, std::size_t end, std::string text)
    {
        m_changes.push_back({begin, end, std::move(text)});
    }
    void insert(std::size_t at, std::string text) { replace(at, at, std::move(text)); }
    void remove(std::size_t begin, std::size_t end) { replace(begin, end, {}); }

    std::string apply(std::string_view text) const;

private:
    struct Change {
        std::size_t begin = 0;
        std::size_t end = 0;
        std::string text;
    };
    std::vector<Change> m_changes;
};

} // namespace mantissa
