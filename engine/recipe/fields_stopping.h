#pragma once

#include "engine/recipe/field.h"

#include <array>

// Callbacks that end a training, or leave a batch out.
namespace mantissa::field {

inline constexpr Field earlyStoppingMonitor = {
    .path = "trainer.callbacks[EarlyStopping].monitor",
    .knob = "callback.EarlyStopping.monitor",
    .label = "EarlyStopping: monitor",
    .type = FieldType::Text,
    .stage = "record",
    .use = FieldUse::Runs,
    .help =
        "The series that has to get better: val_loss, val_accuracy, loss, or another one of the whole run."};
inline constexpr std::array<std::string_view, 2> kEarlyStoppingModeChoices = {"min", "max"};
inline constexpr Field earlyStoppingMode = {.path = "trainer.callbacks[EarlyStopping].mode",
                                            .knob = "callback.EarlyStopping.mode",
                                            .label = "EarlyStopping: mode",
                                            .type = FieldType::Choice,
                                            .stage = "record",
                                            .fallback = "min",
                                            .choices = kEarlyStoppingModeChoices,
                                            .use = FieldUse::Runs,
                                            .help = "Whether less or more of the series is better."};
inline constexpr Field earlyStoppingPatience = {.path = "trainer.callbacks[EarlyStopping].patience",
                                                .knob = "callback.EarlyStopping.patience",
                                                .label = "EarlyStopping: patience",
                                                .type = FieldType::Integer,
                                                .stage = "record",
                                                .fallback = "3",
                                                .least = 0,
                                                .use = FieldUse::Runs,
                                                .help =
                                                    "Checks without getting better before training stops."};
inline constexpr Field earlyStoppingMinDelta = {
    .path = "trainer.callbacks[EarlyStopping].min_delta",
    .knob = "callback.EarlyStopping.min_delta",
    .label = "EarlyStopping: min_delta",
    .type = FieldType::Number,
    .stage = "record",
    .fallback = "0.0",
    .least = 0,
    .use = FieldUse::Runs,
    .help = "What counts as getting better: a change by more than this."};
inline constexpr Field earlyStoppingCheckFinite = {.path = "trainer.callbacks[EarlyStopping].check_finite",
                                                   .knob = "callback.EarlyStopping.check_finite",
                                                   .label = "EarlyStopping: check_finite",
                                                   .type = FieldType::Bool,
                                                   .stage = "record",
                                                   .fallback = "true",
                                                   .use = FieldUse::Runs,
                                                   .help = "Stops where the series is NaN or Inf."};
inline constexpr Field earlyStoppingThreshold = {
    .path = "trainer.callbacks[EarlyStopping].stopping_threshold",
    .knob = "callback.EarlyStopping.stopping_threshold",
    .label = "EarlyStopping: stopping_threshold",
    .type = FieldType::Number,
    .stage = "record",
    .use = FieldUse::Runs,
    .help = "Good enough: training stops once the series is better than this."};
inline constexpr Field earlyStoppingDivergence = {
    .path = "trainer.callbacks[EarlyStopping].divergence_threshold",
    .knob = "callback.EarlyStopping.divergence_threshold",
    .label = "EarlyStopping: divergence_threshold",
    .type = FieldType::Number,
    .stage = "record",
    .use = FieldUse::Runs,
    .help = "Beyond hope: training stops once the series is worse than this."};
inline constexpr Field earlyStoppingOnEpochEnd = {
    .path = "trainer.callbacks[EarlyStopping].check_on_train_epoch_end",
    .knob = "callback.EarlyStopping.check_on_train_epoch_end",
    .label = "EarlyStopping: check_on_train_epoch_end",
    .type = FieldType::Bool,
    .stage = "record",
    .use = FieldUse::Runs,
    .help = "Checks when an epoch ends; else when validation ends. By default the former only where "
            "validation runs once in every epoch."};
inline constexpr Field timerDuration = {
    .path = "trainer.callbacks[Timer].duration",
    .knob = "callback.Timer.duration",
    .label = "Timer: duration",
    .type = FieldType::Any,
    .stage = "record",
    .use = FieldUse::Runs,
    .help = "Stops after this wall-clock time, as DD:HH:MM:SS; nothing: only measures."};
inline constexpr std::array<std::string_view, 2> kTimerIntervalChoices = {"step", "epoch"};
inline constexpr Field timerInterval = {.path = "trainer.callbacks[Timer].interval",
                                        .knob = "callback.Timer.interval",
                                        .label = "Timer: interval",
                                        .type = FieldType::Choice,
                                        .stage = "record",
                                        .fallback = "step",
                                        .choices = kTimerIntervalChoices,
                                        .use = FieldUse::Runs,
                                        .help = "When the clock is looked at."};
inline constexpr Field stopOnNanPatience = {
    .path = "trainer.callbacks[StopOnNaN].patience",
    .knob = "callback.StopOnNaN.patience",
    .label = "StopOnNaN: patience",
    .type = FieldType::Integer,
    .stage = "record",
    .fallback = "1",
    .least = 1,
    .use = FieldUse::Runs,
    .help = "Steps in a row with a loss that is NaN or Inf before training stops."};
inline constexpr std::array<std::string_view, 2> kSpikeModeChoices = {"min", "max"};
inline constexpr Field spikeMode = {.path = "trainer.callbacks[SpikeDetection].mode",
                                    .knob = "callback.SpikeDetection.mode",
                                    .label = "SpikeDetection: mode",
                                    .type = FieldType::Choice,
                                    .stage = "record",
                                    .fallback = "min",
                                    .choices = kSpikeModeChoices,
                                    .use = FieldUse::Runs,
                                    .help = "Whether a spike goes up (min) or down (max)."};
inline constexpr Field spikeWindow = {.path = "trainer.callbacks[SpikeDetection].window",
                                      .knob = "callback.SpikeDetection.window",
                                      .label = "SpikeDetection: window",
                                      .type = FieldType::Integer,
                                      .stage = "record",
                                      .fallback = "10",
                                      .least = 1,
                                      .use = FieldUse::Runs,
                                      .help = "Losses in the running mean that a loss is held against."};
inline constexpr Field spikeWarmup = {.path = "trainer.callbacks[SpikeDetection].warmup",
                                      .knob = "callback.SpikeDetection.warmup",
                                      .label = "SpikeDetection: warmup",
                                      .type = FieldType::Integer,
                                      .stage = "record",
                                      .fallback = "1",
                                      .least = 0,
                                      .use = FieldUse::Runs,
                                      .help = "Batches at the beginning of an epoch that are never a spike."};
inline constexpr Field spikeAtol = {.path = "trainer.callbacks[SpikeDetection].atol",
                                    .knob = "callback.SpikeDetection.atol",
                                    .label = "SpikeDetection: atol",
                                    .type = FieldType::Number,
                                    .stage = "record",
                                    .least = 0,
                                    .use = FieldUse::Runs,
                                    .help = "A spike is further from the mean than this."};
inline constexpr Field spikeRtol = {.path = "trainer.callbacks[SpikeDetection].rtol",
                                    .knob = "callback.SpikeDetection.rtol",
                                    .label = "SpikeDetection: rtol",
                                    .type = FieldType::Number,
                                    .stage = "record",
                                    .fallback = "2.0",
                                    .least = 0,
                                    .use = FieldUse::Runs,
                                    .help = "A spike is further from the mean than this times the mean."};
inline constexpr Field spikeFiniteOnly = {.path = "trainer.callbacks[SpikeDetection].finite_only",
                                          .knob = "callback.SpikeDetection.finite_only",
                                          .label = "SpikeDetection: finite_only",
                                          .type = FieldType::Bool,
                                          .stage = "record",
                                          .fallback = "true",
                                          .use = FieldUse::Runs,
                                          .help = "A loss that is NaN or Inf is a spike."};
inline constexpr std::array<std::string_view, 2> kSpikeActionChoices = {"stop", "skip"};
inline constexpr Field spikeAction = {
    .path = "trainer.callbacks[SpikeDetection].on_spike",
    .knob = "callback.SpikeDetection.on_spike",
    .label = "SpikeDetection: on_spike",
    .type = FieldType::Choice,
    .stage = "record",
    .fallback = "stop",
    .choices = kSpikeActionChoices,
    .use = FieldUse::Runs,
    .help = "stop ends the training, as the ecosystem does; skip leaves the batch out and goes on."};

} // namespace mantissa::field
