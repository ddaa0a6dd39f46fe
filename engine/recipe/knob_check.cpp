#include "engine/recipe/knob_check.h"

#include "engine/recipe/field.h"
#include "engine/recipe/knob_names.h"
#include "engine/recipe/scalar.h"

#include <algorithm>
#include <array>

namespace mantissa {
namespace {

/// Kinds that the real package was run with although a field says another one.
constexpr std::array<std::string_view, 2> kMayBeList = {"gradient_clip_val",
                                                        "callback.StochasticWeightAveraging.swa_lrs"};
constexpr std::array<std::string_view, 1> kMayBeMap = {"accumulate_grad_batches"};
constexpr std::array<std::string_view, 1> kMayBeWord = {"data.length"}; // "unknown"

template <typename Names>
bool isOneOf(const Names& names, std::string_view name)
{
    return std::find(names.begin(), names.end(), name) != names.end();
}

/// Words that YAML of older versions reads as yes or no.
bool isYesOrNo(const std::string& word)
{
    constexpr std::array<std::string_view, 6> kWords = {"yes", "no", "on", "off", "true", "false"};
    return isOneOf(kWords, word);
}

bool isNumeric(const Value& value)
{
    return value.isNumber() || value.isBool()
        || (value.isString() && resolveScalar(value.asString()).isNumber());
}

/// The kind that a value should have had; empty where it has it.
std::string_view kindMissed(const Field& field, const Value& value)
{
    if ((value.isList() && isOneOf(kMayBeList, field.knob))
        || (value.isMap() && isOneOf(kMayBeMap, field.knob))
        || (value.isString() && isOneOf(kMayBeWord, field.knob)))
        return {};
    switch (field.type) {
    case FieldType::Bool:
        return value.isBool() || value.isNumber() || isYesOrNo(value.asString()) ? "" : "true or false";
    case FieldType::Integer:
    case FieldType::Number:
        return isNumeric(value) ? "" : "a number";
    case FieldType::Text:
        return value.isString() ? "" : "a text";
    case FieldType::Choice:
        return value.isString() || (value.isNumber() && field.knob == "precision") ? "" : "a word";
    case FieldType::List:
        return value.isList() || value.isString() ? "" : "a list";
    case FieldType::Map:
        return value.isMap() ? "" : "a map";
    case FieldType::Any:
        break;
    }
    return {};
}

bool isCallbackItself(std::string_view knob)
{
    constexpr std::string_view kHead = "callback.";
    return knob.starts_with(kHead) && knob.find('.', kHead.size()) == std::string_view::npos;
}

std::string errorOf(std::string_view knob, const Value& value)
{
    if (!value.isSet())
        return {};
    const auto words = [&](std::string_view kind) {
        return "The knob " + std::string(knob) + " is " + value.text() + ", and should be "
            + std::string(kind) + ".";
    };
    if (isCallbackItself(knob))
        return value.isBool() ? std::string() : words("true or false");
    const auto* field = fieldOfKnob(knob);
    const auto missed = field ? kindMissed(*field, value) : std::string_view();
    return missed.empty() ? std::string() : words(missed);
}

} // namespace

KnobCheck checkKnobs(const Knobs& knobs)
{
    KnobCheck check;
    for (const auto& [name, value] : knobs) {
        if (!isKnownKnob(name))
            check.unknown.push_back(name);
        else if (check.error.empty())
            check.error = errorOf(name, value);
    }
    return check;
}

} // namespace mantissa
