#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace mantissa {

class Value;
using ValueList = std::vector<Value>;
using ValueMap = std::vector<std::pair<std::string, Value>>; ///< In the order of the file; keys are unique.

/// The two ways in which a setting can be empty are told apart: nobody wrote it, or somebody wrote null.
struct Absent {
    bool operator==(const Absent&) const = default;
};
struct Null {
    bool operator==(const Null&) const = default;
};

/// One value of a set-up: absent, null, bool, integer, double, string, list or map. Copies and compares.
class Value {
public:
    Value() = default;
    Value(Null) : m_state(Null{}) {}
    Value(bool value) : m_state(value) {}
    Value(int value) : m_state(static_cast<std::int64_t>(value)) {}
    Value(std::int64_t value) : m_state(value) {}
    Value(double value) : m_state(value) {}
    Value(const char* value) : m_state(std::string(value)) {}
    Value(std::string_view value) : m_state(std::string(value)) {}
    Value(std::string value) : m_state(std::move(value)) {}
    Value(ValueList value) : m_state(std::move(value)) {}
    Value(ValueMap value) : m_state(std::move(value)) {}

    bool isAbsent() const { return std::holds_alternative<Absent>(m_state); }
    bool isNull() const { return std::holds_alternative<Null>(m_state); }
    bool isSet() const { return !isAbsent() && !isNull(); } ///< Present and not null.
    bool isBool() const { return std::holds_alternative<bool>(m_state); }
    bool isInteger() const { return std::holds_alternative<std::int64_t>(m_state); }
    bool isDouble() const { return std::holds_alternative<double>(m_state); }
    bool isNumber() const { return isInteger() || isDouble(); }
    bool isString() const { return std::holds_alternative<std::string>(m_state); }
    bool isList() const { return std::holds_alternative<ValueList>(m_state); }
    bool isMap() const { return std::holds_alternative<ValueMap>(m_state); }
    bool isScalar() const { return !isList() && !isMap(); }

    /// Lenient readers: the fallback where the value is of another kind. asDouble takes integers too.
    bool asBool(bool fallback = false) const;
    std::int64_t asInteger(std::int64_t fallback = 0) const;
    double asDouble(double fallback = 0.0) const;
    std::string asString(std::string_view fallback = {}) const;
    const ValueList& asList() const; ///< Empty where it is no list.
    /// The entries of a list; the value itself where one is written without the brackets.
    ValueList asEntries() const;
    const ValueMap& asMap() const; ///< Empty where it is no map.

    ValueList* list() { return std::get_if<ValueList>(&m_state); }
    ValueMap* map() { return std::get_if<ValueMap>(&m_state); }

    /// The entry of a map, or absent.
    const Value& operator[](std::string_view key) const;

    /// As one line of YAML flow style: what a chip, a message or a diff shows. Strings are quoted only where
    /// needed.
    std::string text() const;

    bool operator==(const Value&) const = default;

private:
    std::variant<Absent, Null, bool, std::int64_t, double, std::string, ValueList, ValueMap> m_state;
};

} // namespace mantissa
