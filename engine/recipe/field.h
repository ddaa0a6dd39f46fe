#pragma once

#include "engine/recipe/value.h"

#include <optional>
#include <span>
#include <string_view>

namespace mantissa {

enum class FieldType { Bool, Integer, Number, Text, Choice, List, Map, Any };

/// Who does something with a setting.
enum class FieldUse {
    Runs, ///< This engine trains with it.
    Checks, ///< Only the rules read it: this engine cannot do it, and the window says so.
};

/// One setting: the one place that knows its path, its names, its type and its help. Constexpr, so that a
/// rename breaks the build of whoever uses it. Parser, forms, diagram, search, diff, rules and `check
/// --batch` read the table.
struct Field {
    std::string_view path; ///< As in the file: "trainer.precision".
    std::string_view knob = {}; ///< The flat name of `check --batch`: "precision". Empty: none.
    std::string_view label; ///< A short name for people: "precision".
    FieldType type = FieldType::Any;
    std::string_view stage; ///< Stage id whose form shows it.
    std::string_view fallback = {}; ///< The default, as YAML; empty: there is none.
    std::span<const std::string_view> choices = {}; ///< For Choice; others may still be written.
    std::optional<double> least = {}; ///< Range of a number, both ends included.
    std::optional<double> most = {};
    std::string_view unit = {};
    FieldUse use = FieldUse::Checks;
    std::string_view help = {};
    /// Of an argument: the short names of the classes that take it, with spaces between; empty: all of its
    /// section.
    std::string_view classes = {};
    /// Written into the file with the choice of such a class, where it cannot do without; as YAML.
    std::string_view whenChosen = {};
    std::string_view neededBy = {}; ///< … of these only; empty: of all that take it.

    Value defaultValue() const;
    bool isTakenBy(std::string_view className) const;
    bool isNeededBy(std::string_view className) const; ///< So that whenChosen is to be written.
};

/// Every field, in the order in which forms show them.
std::span<const Field* const> allFields();
const Field* fieldAt(std::string_view path);
const Field* fieldOfKnob(std::string_view knob);

} // namespace mantissa
