#pragma once

#include "engine/recipe/field.h"

// How the emulated fp8-mixed scales its tensors.
namespace mantissa::field {

inline constexpr Field fp8HistoryLength = {
    .path = "mantissa.fp8.amax_history_len",
    .label = "amax_history_len",
    .type = FieldType::Integer,
    .stage = "forward",
    .fallback = "1024",
    .least = 1,
    .most = 65536,
    .unit = "steps",
    .use = FieldUse::Runs,
    .help = "Emulated fp8-mixed: each tensor is scaled by the largest value that it had in so many steps. 1 "
            "goes by the last step alone, and cuts off whatever grows."};
inline constexpr Field fp8Margin = {
    .path = "mantissa.fp8.margin",
    .label = "margin",
    .type = FieldType::Integer,
    .stage = "forward",
    .fallback = "0",
    .least = 0,
    .most = 16,
    .use = FieldUse::Runs,
    .help = "Emulated fp8-mixed: powers of two that are kept free above the largest value seen, for "
            "values that grow. Each one costs a power of two at the small end."};

} // namespace mantissa::field
