#pragma once

#include "engine/train/trace_strategy.h"

#include <nlohmann/json.hpp>

#include <array>
#include <string>

namespace mantissa {

/// A name of a trace, and what it stands for here.
template <typename Value>
struct Choice {
    const char* name;
    Value value;
};

template <typename Value, std::size_t N>
Value choose(const nlohmann::json& json, const std::array<Choice<Value>, N>& choices, const std::string& what)
{
    const auto name = json.get<std::string>();
    for (const auto& choice : choices) {
        if (name == choice.name)
            return choice.value;
    }
    throw TraceLack(what + " " + name);
}

} // namespace mantissa
