#pragma once

#include "engine/recipe/field.h"

#include <array>

// A schedule with many arguments: ReduceLROnPlateau.
namespace mantissa::field {

inline constexpr std::array<std::string_view, 2> kPlateauModeChoices = {"min", "max"};
inline constexpr Field plateauMode = {.path = "lr_scheduler.init_args.mode",
                                      .label = "mode",
                                      .type = FieldType::Choice,
                                      .stage = "optimizer",
                                      .fallback = "min",
                                      .choices = kPlateauModeChoices,
                                      .use = FieldUse::Runs,
                                      .help = "ReduceLROnPlateau: whether the metric is to fall or to rise.",
                                      .classes = "ReduceLROnPlateau"};
inline constexpr Field plateauMonitor = {
    .path = "lr_scheduler.init_args.monitor",
    .label = "monitor",
    .type = FieldType::Text,
    .stage = "optimizer",
    .use = FieldUse::Runs,
    .help = "ReduceLROnPlateau as LightningCLI has it: the metric that is watched.",
    .classes = "ReduceLROnPlateau",
    .whenChosen = "train_loss"};
inline constexpr Field plateauFactor = {.path = "lr_scheduler.init_args.factor",
                                        .label = "factor",
                                        .type = FieldType::Number,
                                        .stage = "optimizer",
                                        .fallback = "0.1",
                                        .least = 0,
                                        .use = FieldUse::Runs,
                                        .help = "ReduceLROnPlateau: the rate is multiplied by it; below 1.",
                                        .classes = "ReduceLROnPlateau"};
inline constexpr Field plateauPatience = {
    .path = "lr_scheduler.init_args.patience",
    .label = "patience",
    .type = FieldType::Integer,
    .stage = "optimizer",
    .fallback = "10",
    .least = 0,
    .use = FieldUse::Runs,
    .help = "ReduceLROnPlateau: so many advances without a better value are waited through.",
    .classes = "ReduceLROnPlateau"};
inline constexpr Field plateauThreshold = {.path = "lr_scheduler.init_args.threshold",
                                           .label = "threshold",
                                           .type = FieldType::Number,
                                           .stage = "optimizer",
                                           .fallback = "0.0001",
                                           .least = 0,
                                           .use = FieldUse::Runs,
                                           .help = "ReduceLROnPlateau: how much better counts as better.",
                                           .classes = "ReduceLROnPlateau"};
inline constexpr std::array<std::string_view, 2> kThresholdModeChoices = {"rel", "abs"};
inline constexpr Field plateauThresholdMode = {
    .path = "lr_scheduler.init_args.threshold_mode",
    .label = "threshold_mode",
    .type = FieldType::Choice,
    .stage = "optimizer",
    .fallback = "rel",
    .choices = kThresholdModeChoices,
    .use = FieldUse::Runs,
    .help = "ReduceLROnPlateau: the threshold is a share of the best value, or a difference.",
    .classes = "ReduceLROnPlateau"};
inline constexpr Field plateauCooldown = {
    .path = "lr_scheduler.init_args.cooldown",
    .label = "cooldown",
    .type = FieldType::Integer,
    .stage = "optimizer",
    .fallback = "0",
    .least = 0,
    .use = FieldUse::Runs,
    .help = "ReduceLROnPlateau: advances after a reduction that do not count.",
    .classes = "ReduceLROnPlateau"};
inline constexpr Field plateauMinLr = {.path = "lr_scheduler.init_args.min_lr",
                                       .label = "min_lr",
                                       .type = FieldType::Number,
                                       .stage = "optimizer",
                                       .fallback = "0.0",
                                       .least = 0,
                                       .use = FieldUse::Runs,
                                       .help = "ReduceLROnPlateau: the least rate.",
                                       .classes = "ReduceLROnPlateau"};
inline constexpr Field plateauEps = {.path = "lr_scheduler.init_args.eps",
                                     .label = "eps",
                                     .type = FieldType::Number,
                                     .stage = "optimizer",
                                     .fallback = "1.0e-08",
                                     .least = 0,
                                     .use = FieldUse::Runs,
                                     .help = "ReduceLROnPlateau: smaller changes of the rate are not made.",
                                     .classes = "ReduceLROnPlateau"};

} // namespace mantissa::field
