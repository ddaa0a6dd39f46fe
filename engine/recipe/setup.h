#pragma once

#include "engine/core/result.h"
#include "engine/recipe/value.h"

#include <string>
#include <string_view>
#include <vector>

namespace mantissa {

struct Field;

/// A training set-up: an ordered tree of settings with the ecosystem's own names (LightningCLI's layout).
/// A plain value: copy it, compare it, diff it. Where the settings stand in a file is kept apart, in
/// SourceMap.
///
/// Paths are keys joined by dots. An item of a list of classes is addressed by its class:
/// `trainer.callbacks[EarlyStopping].patience` is `init_args.patience` of the entry whose class_path ends in
/// `EarlyStopping`; `[EarlyStopping#2]` is the second such entry, `[3]` the fourth of any.
class Setup {
public:
    Setup() = default;
    explicit Setup(Value root) : m_root(std::move(root)) {}

    const Value& root() const { return m_root; }

    /// The value at a path as it is written; absent where there is none. Never a default.
    const Value& at(std::string_view path) const;
    const Value& operator[](const Field& field) const;

    /// The value a setting has when defaults are filled in from the table of fields.
    Value effective(const Field& field) const;

    bool has(std::string_view path) const { return !at(path).isAbsent(); }

    /// Sets a value, making the maps and list entries on the way. Fails where a scalar is in the way.
    Result<void> set(std::string_view path, Value value);
    /// Removes a setting, and the maps that become empty by it. Removing what is not there is no error.
    void unset(std::string_view path);

    bool operator==(const Setup&) const = default;

private:
    Value m_root = Value(ValueMap{});
};

enum class EditOp { Set, Unset, Append, Remove };

/// One change of one setting. `Append` adds `value` to the list at `path`; `Remove` drops the list entry at
/// `path`.
struct Edit {
    EditOp op = EditOp::Set;
    std::string path;
    Value value;
    bool operator==(const Edit&) const = default;
};

/// All edits or none: the first that does not fit is the error.
Result<Setup> applyEdits(Setup setup, const std::vector<Edit>& edits);

/// A setting that differs between two set-ups, absent on the side that lacks it.
struct Difference {
    std::string path;
    Value before;
    Value after;
    bool operator==(const Difference&) const = default;
};

/// Leaf by leaf, in the order of `before`, then what is only in `after`.
std::vector<Difference> diff(const Setup& before, const Setup& after);

} // namespace mantissa
