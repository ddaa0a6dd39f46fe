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
    .least = 0,
    .use = FieldUse::Runs,
    .help =
        "Optimizer steps between two checkpoints; 0: they do not go by steps. One more comes at the end, and "
        "where a run is stopped."};
inline constexpr Field checkpointEveryEpochs = {.path = "trainer.callbacks[ModelCheckpoint].every_n_epochs",
                                                .knob = "callback.ModelCheckpoint.every_n_epochs",
                                                .label = "ModelCheckpoint: every_n_epochs",
                                                .type = FieldType::Integer,
                                                .stage = "record",
                                                .least = 0,
                                                .use = FieldUse::Runs,
                                                .help =
                                                    "Epochs between two checkpoints; by default 1, unless "
                                                    "they go by steps. 0: they do not go by epochs."};
inline constexpr Field checkpointOnEpochEnd = {
    .path = "trainer.callbacks[ModelCheckpoint].save_on_train_epoch_end",
    .knob = "callback.ModelCheckpoint.save_on_train_epoch_end",
    .label = "ModelCheckpoint: save_on_train_epoch_end",
    .type = FieldType::Bool,
    .stage = "record",
    .use = FieldUse::Runs,
    .help =
        "With the end of an epoch, or with its validations; by default the former only where validation runs "
        "once in every epoch, or never."};
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

} // namespace mantissa::field
