#pragma once

#include "engine/core/result.h"
#include "engine/recipe/field.h"
#include "engine/recipe/setup.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace mantissa {

/// Reads settings for a plan, with their defaults, and keeps the first thing that cannot be run.
class PlanReader {
public:
    explicit PlanReader(const Setup& setup) : m_setup(setup) {}

    const Setup& setup() const { return m_setup; }

    std::int64_t integer(const Field& field, std::int64_t fallback = 0);
    double number(const Field& field, double fallback = 0.0);
    bool flag(const Field& field);
    std::string word(const Field& field);

    /// "trainer.precision is 64-true, which this engine cannot run." The first one counts, as NotHere; what
    /// is of the wrong kind or out of its range is InvalidSetup.
    void cannot(std::string_view path, const Value& value, std::string hint);
    void fail(std::string message, std::string hint);

    const std::optional<Error>& error() const { return m_error; }

private:
    void keep(ErrorCode code, std::string message, std::string hint);
    void checkRange(const Field& field, const Value& value);
    Value read(const Field& field, bool isRight(const Value&), std::string_view kind);

    const Setup& m_setup;
    std::optional<Error> m_error;
};

} // namespace mantissa
