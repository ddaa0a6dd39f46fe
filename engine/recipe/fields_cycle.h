#pragma once

#include "engine/recipe/field.h"

#include <array>

// A schedule with many arguments: OneCycleLR.
namespace mantissa::field {

inline constexpr Field cycleMaxLr = {.path = "lr_scheduler.init_args.max_lr",
                                     .label = "max_lr",
                                     .type = FieldType::Number,
                                     .stage = "optimizer",
                                     .least = 0,
                                     .use = FieldUse::Runs,
                                     .help = "OneCycleLR: the largest rate. The base rate plays no part.",
                                     .classes = "OneCycleLR",
                                     .whenChosen = "0.01"};
inline constexpr Field cycleTotalSteps = {
    .path = "lr_scheduler.init_args.total_steps",
    .label = "total_steps",
    .type = FieldType::Integer,
    .stage = "optimizer",
    .least = 1,
    .use = FieldUse::Runs,
    .help = "OneCycleLR: advances of the whole cycle; epochs × steps_per_epoch is the same.",
    .classes = "OneCycleLR",
    .whenChosen = "1000"};
inline constexpr Field cycleEpochs = {.path = "lr_scheduler.init_args.epochs",
                                      .label = "epochs",
                                      .type = FieldType::Integer,
                                      .stage = "optimizer",
                                      .least = 1,
                                      .most = 1000000000, // So that their product fits.
                                      .use = FieldUse::Runs,
                                      .help = "OneCycleLR: with steps_per_epoch instead of total_steps.",
                                      .classes = "OneCycleLR"};
inline constexpr Field cycleStepsPerEpoch = {.path = "lr_scheduler.init_args.steps_per_epoch",
                                             .label = "steps_per_epoch",
                                             .type = FieldType::Integer,
                                             .stage = "optimizer",
                                             .least = 1,
                                             .most = 1000000000, // So that their product fits.
                                             .use = FieldUse::Runs,
                                             .help = "OneCycleLR: with epochs instead of total_steps.",
                                             .classes = "OneCycleLR"};
inline constexpr Field cyclePctStart = {.path = "lr_scheduler.init_args.pct_start",
                                        .label = "pct_start",
                                        .type = FieldType::Number,
                                        .stage = "optimizer",
                                        .fallback = "0.3",
                                        .least = 0,
                                        .most = 1,
                                        .use = FieldUse::Runs,
                                        .help = "OneCycleLR: the share of the cycle in which the rate rises.",
                                        .classes = "OneCycleLR"};
inline constexpr std::array<std::string_view, 2> kAnnealChoices = {"cos", "linear"};
inline constexpr Field cycleAnneal = {.path = "lr_scheduler.init_args.anneal_strategy",
                                      .label = "anneal_strategy",
                                      .type = FieldType::Choice,
                                      .stage = "optimizer",
                                      .fallback = "cos",
                                      .choices = kAnnealChoices,
                                      .use = FieldUse::Runs,
                                      .help = "OneCycleLR: half waves of a cosine, or straight lines.",
                                      .classes = "OneCycleLR"};
inline constexpr Field cycleMomentum = {
    .path = "lr_scheduler.init_args.cycle_momentum",
    .label = "cycle_momentum",
    .type = FieldType::Bool,
    .stage = "optimizer",
    .fallback = "true",
    .use = FieldUse::Runs,
    .help = "OneCycleLR: momentum, or the first beta, falls while the rate rises.",
    .classes = "OneCycleLR"};
inline constexpr Field cycleBaseMomentum = {.path = "lr_scheduler.init_args.base_momentum",
                                            .label = "base_momentum",
                                            .type = FieldType::Number,
                                            .stage = "optimizer",
                                            .fallback = "0.85",
                                            .least = 0,
                                            .most = 1,
                                            .use = FieldUse::Runs,
                                            .help = "OneCycleLR: the least momentum.",
                                            .classes = "OneCycleLR"};
inline constexpr Field cycleMaxMomentum = {.path = "lr_scheduler.init_args.max_momentum",
                                           .label = "max_momentum",
                                           .type = FieldType::Number,
                                           .stage = "optimizer",
                                           .fallback = "0.95",
                                           .least = 0,
                                           .most = 1,
                                           .use = FieldUse::Runs,
                                           .help = "OneCycleLR: the largest momentum.",
                                           .classes = "OneCycleLR"};
inline constexpr Field cycleDivFactor = {.path = "lr_scheduler.init_args.div_factor",
                                         .label = "div_factor",
                                         .type = FieldType::Number,
                                         .stage = "optimizer",
                                         .fallback = "25.0",
                                         .least = 0,
                                         .use = FieldUse::Runs,
                                         .help = "OneCycleLR: the first rate is max_lr divided by it.",
                                         .classes = "OneCycleLR"};
inline constexpr Field cycleFinalDivFactor = {.path = "lr_scheduler.init_args.final_div_factor",
                                              .label = "final_div_factor",
                                              .type = FieldType::Number,
                                              .stage = "optimizer",
                                              .fallback = "10000.0",
                                              .least = 0,
                                              .use = FieldUse::Runs,
                                              .help =
                                                  "OneCycleLR: the last rate is the first one divided by it.",
                                              .classes = "OneCycleLR"};
inline constexpr Field cycleThreePhase = {
    .path = "lr_scheduler.init_args.three_phase",
    .label = "three_phase",
    .type = FieldType::Bool,
    .stage = "optimizer",
    .fallback = "false",
    .use = FieldUse::Runs,
    .help = "OneCycleLR: falls as fast as it rose, and only then to the last rate.",
    .classes = "OneCycleLR"};

} // namespace mantissa::field
