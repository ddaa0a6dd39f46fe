#include "engine/recipe/plan_reader.h"

#include "engine/recipe/training_classes.h"

#include <cmath>

namespace mantissa {

namespace {

std::string numberWord(double number)
{
    return Value(number == std::floor(number) && std::abs(number) < 1e15
                     ? Value(static_cast<std::int64_t>(number))
                     : Value(number))
        .text();
}

std::string rangeWords(const Field& field)
{
    if (field.least && field.most)
        return "from " + numberWord(*field.least) + " to " + numberWord(*field.most);
    return field.least ? "at least " + numberWord(*field.least) : "at most " + numberWord(*field.most);
}

bool isWhole(const Value& value)
{
    return value.isInteger()
        || (value.isDouble() && value.asDouble() == static_cast<double>(value.asInteger()));
}

} // namespace

void PlanReader::fail(std::string message, std::string hint)
{
    keep(ErrorCode::NotHere, std::move(message), std::move(hint));
}

void PlanReader::keep(ErrorCode code, std::string message, std::string hint)
{
    if (!m_error)
        m_error = Error{code, std::move(message), std::move(hint)};
}

void PlanReader::cannot(std::string_view path, const Value& value, std::string hint)
{
    fail(std::string(path) + " is " + value.text() + ", which this engine cannot run.", std::move(hint));
}

void PlanReader::checkRange(const Field& field, const Value& value)
{
    const auto number = value.asDouble();
    const bool low = field.least && !(number >= *field.least);
    const bool high = field.most && !(number <= *field.most);
    if (low || high)
        keep(ErrorCode::InvalidSetup, std::string(field.path) + " is " + value.text() + ", out of its range.",
             "It is " + rangeWords(field) + ".");
}

Value PlanReader::read(const Field& field, bool isRight(const Value&), std::string_view kind)
{
    const auto value = settingIn(m_setup, field);
    if (!value.isSet())
        return value;
    if (!isRight(value)) {
        keep(ErrorCode::InvalidSetup,
             std::string(field.path) + " is " + value.text() + ", and should be " + std::string(kind) + ".",
             "Write " + std::string(kind)
                 + (field.fallback.empty() ? "." : ", such as " + std::string(field.fallback) + "."));
        return {};
    }
    if (value.isNumber() && !std::isfinite(value.asDouble())) {
        keep(ErrorCode::InvalidSetup, std::string(field.path) + " is " + value.text() + ", which is no size.",
             "Write a finite number.");
        return {};
    }
    if (value.isNumber())
        checkRange(field, value);
    return value;
}

std::int64_t PlanReader::integer(const Field& field, std::int64_t fallback)
{
    return read(field, isWhole, "a whole number").asInteger(fallback);
}

double PlanReader::number(const Field& field, double fallback)
{
    return read(
               field, [](const Value& v) { return v.isNumber(); }, "a number")
        .asDouble(fallback);
}

bool PlanReader::flag(const Field& field)
{
    return read(
               field, [](const Value& v) { return v.isBool(); }, "true or false")
        .asBool();
}

std::string PlanReader::word(const Field& field)
{
    return read(
               field, [](const Value& v) { return v.isString(); }, "a word")
        .asString();
}

} // namespace mantissa
