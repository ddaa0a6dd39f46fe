#pragma once

#include "engine/recipe/plan_reader.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

namespace mantissa {

/// A word of a set-up and what it stands for.
template <typename Meaning>
struct PlanChoice {
    std::string_view word;
    Meaning meaning;
};
template <typename Meaning>
PlanChoice(const char*, Meaning) -> PlanChoice<Meaning>;

/// What the setting's word stands for; the first choice, and a complaint, where it is none of them.
template <typename Meaning, std::size_t N>
Meaning choose(PlanReader& reader, const Field& field, const std::array<PlanChoice<Meaning>, N>& choices)
{
    const auto word = reader.word(field);
    const auto found =
        std::find_if(choices.begin(), choices.end(), [&](const auto& choice) { return choice.word == word; });
    if (found != choices.end())
        return found->meaning;
    std::string words;
    for (std::size_t i = 0; i < N; ++i)
        words += std::string(i == 0 ? "" : i + 1 < N ? ", " : " or ") + std::string(choices[i].word);
    reader.cannot(field.path, Value(word), "It is " + words + ".");
    return choices.front().meaning;
}

} // namespace mantissa
