#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace mantissa {

/// A place in a file. Lines and columns are 1-based; columns count code points, offsets count bytes.
struct SourcePoint {
    std::size_t line = 1;
    std::size_t column = 1;
    std::size_t offset = 0;
    bool operator==(const SourcePoint&) const = default;
};

/// From `begin` up to, not including, `end`.
struct SourceSpan {
    SourcePoint begin;
    SourcePoint end;
    bool operator==(const SourceSpan&) const = default;
};

/// Where the settings of a set-up stand in its file. Keyed by the path with list entries by number
/// (`trainer.callbacks[0].init_args.patience`), so that every entry has one key.
class SourceMap {
public:
    struct Entry {
        SourceSpan key; ///< The key; equal to `value` for a list entry.
        SourceSpan value;
        bool alias = false; ///< The value comes from an alias or a merge: a fix must write a literal.
    };

    void add(std::string path, Entry entry) { m_entries.insert_or_assign(std::move(path), entry); }
    const Entry* find(std::string_view path) const;
    /// The entry of the path, else of the nearest enclosing one; null where the map is empty.
    const Entry* nearest(std::string_view path) const;

private:
    std::map<std::string, Entry, std::less<>> m_entries;
};

} // namespace mantissa
