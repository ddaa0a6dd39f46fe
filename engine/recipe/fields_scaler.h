#pragma once

#include "engine/recipe/field.h"

#include <array>

// The loss scale, reduction, faults, and words for people.
namespace mantissa::field {

inline constexpr Field scalerInitScale = {
    .path = "mantissa.scaler.init_scale",
    .label = "init_scale",
    .type = FieldType::Number,
    .stage = "scale",
    .fallback = "65536.0",
    .least = 0,
    .use = FieldUse::Runs,
    .help = "The loss scale at the start. Overflows halve it until gradients fit."};
inline constexpr Field scalerGrowthFactor = {
    .path = "mantissa.scaler.growth_factor",
    .label = "growth_factor",
    .type = FieldType::Number,
    .stage = "update_scale",
    .fallback = "2.0",
    .least = 1,
    .use = FieldUse::Runs,
    .help = "The scale is multiplied by it after enough steps without overflow."};
inline constexpr Field scalerBackoffFactor = {.path = "mantissa.scaler.backoff_factor",
                                              .label = "backoff_factor",
                                              .type = FieldType::Number,
                                              .stage = "update_scale",
                                              .fallback = "0.5",
                                              .least = 0,
                                              .most = 1,
                                              .use = FieldUse::Runs,
                                              .help = "The scale is multiplied by it at each overflow."};
inline constexpr Field scalerGrowthInterval = {.path = "mantissa.scaler.growth_interval",
                                               .label = "growth_interval",
                                               .type = FieldType::Integer,
                                               .stage = "update_scale",
                                               .fallback = "2000",
                                               .least = 1,
                                               .unit = "steps",
                                               .use = FieldUse::Runs,
                                               .help = "Steps without overflow before the scale grows."};
inline constexpr Field scalerEnabled = {
    .path = "mantissa.scaler.enabled",
    .label = "enabled",
    .type = FieldType::Bool,
    .stage = "scale",
    .fallback = "true",
    .use = FieldUse::Runs,
    .help = "false: 16-mixed without a loss scale, so that one sees what it is for."};
inline constexpr Field scalerFloor = {
    .path = "mantissa.scaler.floor",
    .label = "floor",
    .type = FieldType::Number,
    .stage = "update_scale",
    .fallback = "1.0",
    .least = 0,
    .use = FieldUse::Runs,
    .help = "A loss scale that falls below it raises an alarm in the record. The scale itself goes on."};
inline constexpr Field scalerByHand = {
    .path = "mantissa.scaler.set_at",
    .label = "set by hand",
    .type = FieldType::Map,
    .stage = "scale",
    .use = FieldUse::Runs,
    .help = "A loss scale given by hand, by step: {100: 1024} sets it to 1024 before step 100. Steps count "
            "from 0; the growth tracker goes on."};
inline constexpr Field explicitUnscale = {.path = "mantissa.explicit_unscale",
                                          .label = "unscale before the step",
                                          .type = FieldType::Bool,
                                          .stage = "unscale",
                                          .fallback = "false",
                                          .use = FieldUse::Runs,
                                          .help =
                                              "Divides gradients by the loss scale in a step of their own "
                                              "even where the optimizer could do it. Clipping always does."};
inline constexpr Field noSync = {
    .path = "mantissa.no_sync",
    .label = "no_sync",
    .type = FieldType::Bool,
    .stage = "reduce",
    .fallback = "true",
    .use = FieldUse::Runs,
    .help =
        "Inside an accumulation window ranks do not talk; under FSDP that keeps whole gradients in memory."};
inline constexpr std::array<std::string_view, 2> kLastWindowChoices = {"full", "real"};
inline constexpr Field lastWindow = {.path = "mantissa.last_window",
                                     .label = "last window",
                                     .type = FieldType::Choice,
                                     .stage = "loss",
                                     .fallback = "full",
                                     .choices = kLastWindowChoices,
                                     .use = FieldUse::Runs,
                                     .help = "A shorter last window of an epoch is divided by the full size, "
                                             "as Lightning does, or by its real one."};
inline constexpr Field inject = {.path = "mantissa.inject",
                                 .label = "faults on purpose",
                                 .type = FieldType::List,
                                 .stage = "backward",
                                 .fallback = "[]",
                                 .use = FieldUse::Runs,
                                 .help = "Faults made on purpose: a list of {step, rank, kind, value}; kind "
                                         "is inf, nan, factor, stall, throw or spike."};
inline constexpr Field suppress = {.path = "mantissa.suppress",
                                   .label = "suppressed findings",
                                   .type = FieldType::List,
                                   .stage = "configure",
                                   .fallback = "[]",
                                   .use = FieldUse::Runs,
                                   .help = "Findings that are left out: a list of {rule, path, reason}."};
inline constexpr Field notes = {.path = "mantissa.notes",
                                .label = "notes",
                                .type = FieldType::Text,
                                .stage = "configure",
                                .use = FieldUse::Runs,
                                .help = "Words for people."};

} // namespace mantissa::field
