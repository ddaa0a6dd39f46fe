#include "engine/recipe/value.h"

#include "engine/recipe/scalar.h"

#include <cmath>
#include <limits>

namespace mantissa {

namespace {

const Value kAbsent;
const ValueList kNoList;
const ValueMap kNoMap;

std::string listText(const ValueList& list)
{
    std::string text = "[";
    for (const auto& item : list)
        text += (text.size() > 1 ? ", " : "") + item.text();
    return text + "]";
}

std::string mapText(const ValueMap& map)
{
    std::string text = "{";
    for (const auto& [key, value] : map)
        text += (text.size() > 1 ? ", " : "") + keyText(key) + ": " + value.text();
    return text + "}";
}

} // namespace

bool Value::asBool(bool fallback) const
{
    const auto* value = std::get_if<bool>(&m_state);
    return value ? *value : fallback;
}

std::int64_t Value::asInteger(std::int64_t fallback) const
{
    if (const auto* value = std::get_if<std::int64_t>(&m_state))
        return *value;
    // 2e3 is written as a float and meant as a count.
    const auto* number = std::get_if<double>(&m_state);
    const bool whole = number && std::floor(*number) == *number && std::abs(*number) < 9e15;
    return whole ? static_cast<std::int64_t>(*number) : fallback;
}

double Value::asDouble(double fallback) const
{
    if (const auto* value = std::get_if<std::int64_t>(&m_state))
        return static_cast<double>(*value);
    const auto* value = std::get_if<double>(&m_state);
    return value ? *value : fallback;
}

std::string Value::asString(std::string_view fallback) const
{
    const auto* value = std::get_if<std::string>(&m_state);
    return value ? *value : std::string(fallback);
}

const ValueList& Value::asList() const
{
    const auto* value = std::get_if<ValueList>(&m_state);
    return value ? *value : kNoList;
}

ValueList Value::asEntries() const
{
    return isList() ? asList() : ValueList{*this};
}

const ValueMap& Value::asMap() const
{
    const auto* value = std::get_if<ValueMap>(&m_state);
    return value ? *value : kNoMap;
}

const Value& Value::operator[](std::string_view key) const
{
    for (const auto& [name, value] : asMap())
        if (name == key)
            return value;
    return kAbsent;
}

std::string Value::text() const
{
    if (isAbsent())
        return {};
    if (isNull())
        return "null";
    if (isBool())
        return asBool() ? "true" : "false";
    if (isInteger())
        return std::to_string(asInteger());
    if (isDouble())
        return numberText(asDouble());
    if (isString())
        return quotedIfNeeded(asString());
    return isList() ? listText(asList()) : mapText(asMap());
}

} // namespace mantissa
