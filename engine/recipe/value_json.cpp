#include "engine/recipe/value_json.h"

#include <nlohmann/json.hpp>

#include <cmath>
#include <limits>

namespace mantissa {

namespace {

nlohmann::json jsonNumber(double number)
{
    if (std::isnan(number))
        return "NaN";
    if (std::isinf(number))
        return number < 0 ? "-Infinity" : "Infinity";
    return number;
}

Value numberFromJson(const nlohmann::json& json)
{
    constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    if (json.is_number_float() || (json.is_number_unsigned() && json.get<std::uint64_t>() > kMost))
        return json.get<double>();
    return json.get<std::int64_t>();
}

} // namespace

Value valueFromJson(const nlohmann::json& json)
{
    if (json.is_boolean())
        return json.get<bool>();
    if (json.is_number())
        return numberFromJson(json);
    if (json.is_string())
        return json.get<std::string>();
    if (json.is_array()) {
        ValueList list;
        for (const auto& item : json)
            list.push_back(valueFromJson(item));
        return list;
    }
    if (json.is_object()) {
        ValueMap map;
        for (const auto& [key, item] : json.items())
            map.emplace_back(key, valueFromJson(item));
        return map;
    }
    return Null{};
}

nlohmann::json jsonFromValue(const Value& value)
{
    if (value.isBool())
        return value.asBool();
    if (value.isInteger())
        return value.asInteger();
    if (value.isDouble())
        return jsonNumber(value.asDouble());
    if (value.isString())
        return value.asString();
    if (value.isList()) {
        auto list = nlohmann::json::array();
        for (const auto& item : value.asList())
            list.push_back(jsonFromValue(item));
        return list;
    }
    if (value.isMap()) {
        auto map = nlohmann::json::object();
        for (const auto& [key, item] : value.asMap())
            map[key] = jsonFromValue(item);
        return map;
    }
    return nullptr;
}

} // namespace mantissa
