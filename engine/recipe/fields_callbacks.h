#pragma once

#include "engine/recipe/field.h"

#include <array>

// Callbacks with arguments that rules, forms or this engine read.
namespace mantissa::field {

inline constexpr Field accumulationSchedule = {
    .path = "trainer.callbacks[GradientAccumulationScheduler].scheduling",
    .knob = "callback.GradientAccumulationScheduler.scheduling",
    .label = "accumulation by epoch",
    .type = FieldType::Map,
    .stage = "loss",
    .use = FieldUse::Runs,
    .help = "From an epoch on, so many micro batches make one step: {0: 1, 4: 2}. Epochs count from 0."};
inline constexpr Field earlyStoppingMonitor = {.path = "trainer.callbacks[EarlyStopping].monitor",
                                               .knob = "callback.EarlyStopping.monitor",
                                               .label = "EarlyStopping: monitor",
                                               .type = FieldType::Text,
                                               .stage = "record",
                                               .help = "The metric that has to get better."};
inline constexpr Field earlyStoppingPatience = {.path = "trainer.callbacks[EarlyStopping].patience",
                                                .knob = "callback.EarlyStopping.patience",
                                                .label = "EarlyStopping: patience",
                                                .type = FieldType::Integer,
                                                .stage = "record",
                                                .fallback = "3",
                                                .least = 0,
                                                .help =
                                                    "Checks without getting better before training stops."};
inline constexpr Field checkpointMonitor = {.path = "trainer.callbacks[ModelCheckpoint].monitor",
                                            .knob = "callback.ModelCheckpoint.monitor",
                                            .label = "ModelCheckpoint: monitor",
                                            .type = FieldType::Text,
                                            .stage = "record",
                                            .use = FieldUse::Runs,
                                            .help = "The series by which the best checkpoints are chosen."};
inline constexpr std::array<std::string_view, 2> kCheckpointModeChoices = {"min", "max"};
inline constexpr Field checkpointMode = {.path = "trainer.callbacks[ModelCheckpoint].mode",
                                         .knob = "callback.ModelCheckpoint.mode",
                                         .label = "ModelCheckpoint: mode",
                                         .type = FieldType::Choice,
                                         .stage = "record",
                                         .fallback = "min",
                                         .choices = kCheckpointModeChoices,
                                         .use = FieldUse::Runs,
                                         .help = "Whether the least or the most of the series is best."};
inline constexpr Field checkpointEvery = {
    .path = "trainer.callbacks[ModelCheckpoint].every_n_train_steps",
    .knob = "callback.ModelCheckpoint.every_n_train_steps",
    .label = "ModelCheckpoint: every_n_train_steps",
    .type = FieldType::Integer,
    .stage = "record",
    .fallback = "0",
    .least = 0,
    .use = FieldUse::Runs,
    .help = "Optimizer steps between two checkpoints. 0: one at the end, and one where a run is stopped."};
inline constexpr Field checkpointSaveTopK = {.path = "trainer.callbacks[ModelCheckpoint].save_top_k",
                                             .knob = "callback.ModelCheckpoint.save_top_k",
                                             .label = "ModelCheckpoint: save_top_k",
                                             .type = FieldType::Integer,
                                             .stage = "record",
                                             .fallback = "1",
                                             .least = -1,
                                             .use = FieldUse::Runs,
                                             .help = "How many of the best checkpoints stay; -1: all. "
                                                     "The newest ones stay besides."};
inline constexpr Field swaLrs = {.path = "trainer.callbacks[StochasticWeightAveraging].swa_lrs",
                                 .knob = "callback.StochasticWeightAveraging.swa_lrs",
                                 .label = "SWA: learning rate",
                                 .type = FieldType::Any,
                                 .stage = "optimizer",
                                 .help = "The rate that weight averaging anneals to."};
inline constexpr Field emaDecay = {.path = "trainer.callbacks[EMAWeightAveraging].decay",
                                   .knob = "callback.EMAWeightAveraging.decay",
                                   .label = "EMA: decay",
                                   .type = FieldType::Number,
                                   .stage = "optimizer",
                                   .fallback = "0.999",
                                   .least = 0,
                                   .most = 1,
                                   .help = "How much of the old average stays at each update."};
inline constexpr std::array<std::string_view, 2> kLrMonitorIntervalChoices = {"step", "epoch"};
inline constexpr Field lrMonitorInterval = {.path = "trainer.callbacks[LearningRateMonitor].logging_interval",
                                            .knob = "callback.LearningRateMonitor.logging_interval",
                                            .label = "LR monitor: interval",
                                            .type = FieldType::Choice,
                                            .stage = "record",
                                            .choices = kLrMonitorIntervalChoices,
                                            .help = "When the learning rate is logged."};

} // namespace mantissa::field
