#pragma once

#include "engine/recipe/field.h"

#include <array>

// The schedule of the learning rate.
namespace mantissa::field {

inline constexpr std::array<std::string_view, 8> kScheduleClassChoices = {
    "mantissa.WarmupCosine",
    "torch.optim.lr_scheduler.StepLR",
    "torch.optim.lr_scheduler.MultiStepLR",
    "torch.optim.lr_scheduler.CosineAnnealingLR",
    "torch.optim.lr_scheduler.LinearLR",
    "torch.optim.lr_scheduler.ExponentialLR",
    "torch.optim.lr_scheduler.OneCycleLR",
    "lightning.pytorch.cli.ReduceLROnPlateau"}; // The form that takes its metric as an argument.
inline constexpr Field scheduleClass = {.path = "lr_scheduler.class_path",
                                        .knob = "module.lr_scheduler.class",
                                        .label = "schedule",
                                        .type = FieldType::Choice,
                                        .stage = "optimizer",
                                        .choices = kScheduleClassChoices,
                                        .use = FieldUse::Runs,
                                        .help =
                                            "How the learning rate changes over time. Nothing: it stays."};
inline constexpr Field scheduleWarmup = {
    .path = "lr_scheduler.init_args.warmup",
    .label = "warmup",
    .type = FieldType::Integer,
    .stage = "optimizer",
    .fallback = "0",
    .least = 0,
    .use = FieldUse::Runs,
    .help = "WarmupCosine: advances during which the rate rises from zero in equal parts.",
    .classes = "WarmupCosine"};
inline constexpr Field scheduleTotal = {
    .path = "lr_scheduler.init_args.total",
    .label = "total",
    .type = FieldType::Integer,
    .stage = "optimizer",
    .least = 1,
    .use = FieldUse::Runs,
    .help = "WarmupCosine: advances until the least rate is reached; by default trainer.max_steps.",
    .classes = "WarmupCosine",
    .whenChosen = "1000"};
inline constexpr Field scheduleMinRatio = {.path = "lr_scheduler.init_args.min_ratio",
                                           .label = "min_ratio",
                                           .type = FieldType::Number,
                                           .stage = "optimizer",
                                           .fallback = "0.0",
                                           .least = 0,
                                           .most = 1,
                                           .use = FieldUse::Runs,
                                           .help =
                                               "WarmupCosine: the least rate as a share of the base rate.",
                                           .classes = "WarmupCosine"};
inline constexpr Field scheduleStepSize = {.path = "lr_scheduler.init_args.step_size",
                                           .label = "step_size",
                                           .type = FieldType::Integer,
                                           .stage = "optimizer",
                                           .least = 1,
                                           .use = FieldUse::Runs,
                                           .help = "StepLR: advances between two multiplications.",
                                           .classes = "StepLR",
                                           .whenChosen = "1"};
inline constexpr Field scheduleGamma = {.path = "lr_scheduler.init_args.gamma",
                                        .label = "gamma",
                                        .type = FieldType::Number,
                                        .stage = "optimizer",
                                        .fallback = "0.1",
                                        .least = 0,
                                        .use = FieldUse::Runs,
                                        .help = "StepLR, MultiStepLR, ExponentialLR: the factor of each "
                                                "multiplication.",
                                        .classes = "StepLR MultiStepLR ExponentialLR",
                                        .whenChosen = "0.9",
                                        .neededBy = "ExponentialLR"};
inline constexpr std::array<std::string_view, 2> kScheduleIntervalChoices = {"epoch", "step"};
inline constexpr Field scheduleInterval = {
    .path = "mantissa.facts.lr_scheduler.interval",
    .knob = "module.lr_scheduler.interval",
    .label = "advanced every",
    .type = FieldType::Choice,
    .stage = "optimizer",
    .choices = kScheduleIntervalChoices,
    .use = FieldUse::Runs,
    .help = "When the schedule advances. Lightning says epoch; a WarmupCosine of this engine counts steps "
            "unless told otherwise."};
inline constexpr std::array<std::string_view, 2> kScheduleOnSkipChoices = {"advance", "hold"};
inline constexpr Field scheduleOnSkip = {
    .path = "mantissa.schedule_on_skip",
    .label = "on a skipped step",
    .type = FieldType::Choice,
    .stage = "optimizer",
    .fallback = "advance",
    .choices = kScheduleOnSkipChoices,
    .use = FieldUse::Runs,
    .help = "Lightning advances the schedule also on steps that the loss scale skips; hold waits with them."};
inline constexpr Field scheduleFrequency = {.path = "mantissa.facts.lr_scheduler.frequency",
                                            .knob = "module.lr_scheduler.frequency",
                                            .label = "frequency",
                                            .type = FieldType::Integer,
                                            .stage = "optimizer",
                                            .fallback = "1",
                                            .least = 1,
                                            .use = FieldUse::Runs,
                                            .help = "Advances only at every n-th batch of an epoch, or at "
                                                    "every n-th epoch."};
inline constexpr Field scheduleMonitor = {.path = "mantissa.facts.lr_scheduler.monitor",
                                          .knob = "module.lr_scheduler.monitor",
                                          .label = "monitor",
                                          .type = FieldType::Text,
                                          .stage = "optimizer",
                                          .use = FieldUse::Runs,
                                          .help =
                                              "The metric that a plateau schedule watches: train_loss, or "
                                              "val_loss where there is a validation."};
inline constexpr Field scheduleStrict = {.path = "mantissa.facts.lr_scheduler.strict",
                                         .knob = "module.lr_scheduler.strict",
                                         .label = "strict",
                                         .type = FieldType::Bool,
                                         .stage = "optimizer",
                                         .fallback = "true",
                                         .help = "Stops where the watched metric is missing."};
inline constexpr Field scheduleMilestones = {
    .path = "lr_scheduler.init_args.milestones",
    .label = "milestones",
    .type = FieldType::List,
    .stage = "optimizer",
    .use = FieldUse::Runs,
    .help = "MultiStepLR: the advances at which the rate is multiplied, such as [30, 80].",
    .classes = "MultiStepLR",
    .whenChosen = "[30, 80]"};
inline constexpr Field scheduleTMax = {.path = "lr_scheduler.init_args.T_max",
                                       .label = "T_max",
                                       .type = FieldType::Integer,
                                       .stage = "optimizer",
                                       .least = 1,
                                       .use = FieldUse::Runs,
                                       .help =
                                           "CosineAnnealingLR: advances until the least rate. Then it rises "
                                           "again.",
                                       .classes = "CosineAnnealingLR",
                                       .whenChosen = "10"};
inline constexpr Field scheduleEtaMin = {.path = "lr_scheduler.init_args.eta_min",
                                         .label = "eta_min",
                                         .type = FieldType::Number,
                                         .stage = "optimizer",
                                         .fallback = "0.0",
                                         .least = 0,
                                         .use = FieldUse::Runs,
                                         .help = "CosineAnnealingLR: the least rate.",
                                         .classes = "CosineAnnealingLR"};
inline constexpr Field scheduleStartFactor = {
    .path = "lr_scheduler.init_args.start_factor",
    .label = "start_factor",
    .type = FieldType::Number,
    .stage = "optimizer",
    .fallback = "0.3333333333333333",
    .most = 1,
    .use = FieldUse::Runs,
    .help = "LinearLR: the first rate as a share of the base rate, above 0.",
    .classes = "LinearLR"};
inline constexpr Field scheduleEndFactor = {.path = "lr_scheduler.init_args.end_factor",
                                            .label = "end_factor",
                                            .type = FieldType::Number,
                                            .stage = "optimizer",
                                            .fallback = "1.0",
                                            .least = 0,
                                            .most = 1,
                                            .use = FieldUse::Runs,
                                            .help = "LinearLR: the last rate as a share of the base rate.",
                                            .classes = "LinearLR"};
inline constexpr Field scheduleTotalIters = {.path = "lr_scheduler.init_args.total_iters",
                                             .label = "total_iters",
                                             .type = FieldType::Integer,
                                             .stage = "optimizer",
                                             .fallback = "5",
                                             .least = 1,
                                             .use = FieldUse::Runs,
                                             .help = "LinearLR: advances from the first to the last rate.",
                                             .classes = "LinearLR"};

} // namespace mantissa::field
