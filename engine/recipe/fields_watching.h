#pragma once

#include "engine/recipe/field.h"

#include <array>

// Callbacks that record more than the engine records by itself.
namespace mantissa::field {

inline constexpr std::array<std::string_view, 2> kLrMonitorIntervalChoices = {"step", "epoch"};
inline constexpr Field lrMonitorInterval = {.path = "trainer.callbacks[LearningRateMonitor].logging_interval",
                                            .knob = "callback.LearningRateMonitor.logging_interval",
                                            .label = "LR monitor: interval",
                                            .type = FieldType::Choice,
                                            .stage = "record",
                                            .choices = kLrMonitorIntervalChoices,
                                            .use = FieldUse::Runs,
                                            .help = "When the learning rate is logged."};
inline constexpr Field lrMonitorMomentum = {.path = "trainer.callbacks[LearningRateMonitor].log_momentum",
                                            .knob = "callback.LearningRateMonitor.log_momentum",
                                            .label = "LR monitor: log_momentum",
                                            .type = FieldType::Bool,
                                            .stage = "record",
                                            .fallback = "false",
                                            .use = FieldUse::Runs,
                                            .help = "Logs the momentum too, or the first beta."};
inline constexpr Field lrMonitorWeightDecay = {.path =
                                                   "trainer.callbacks[LearningRateMonitor].log_weight_decay",
                                               .knob = "callback.LearningRateMonitor.log_weight_decay",
                                               .label = "LR monitor: log_weight_decay",
                                               .type = FieldType::Bool,
                                               .stage = "record",
                                               .fallback = "false",
                                               .use = FieldUse::Runs,
                                               .help = "Logs the weight decay too."};
inline constexpr Field deviceStatsEvery = {.path = "trainer.callbacks[DeviceStatsMonitor].every_n_steps",
                                           .knob = "callback.DeviceStatsMonitor.every_n_steps",
                                           .label = "Device stats: every_n_steps",
                                           .type = FieldType::Integer,
                                           .stage = "record",
                                           .fallback = "10",
                                           .least = 1,
                                           .use = FieldUse::Runs,
                                           .help =
                                               "Optimizer steps between two looks at processor and memory."};
inline constexpr Field histogramEvery = {.path = "trainer.callbacks[HistogramCapture].every_n_steps",
                                         .knob = "callback.HistogramCapture.every_n_steps",
                                         .label = "Histograms: every_n_steps",
                                         .type = FieldType::Integer,
                                         .stage = "record",
                                         .fallback = "10",
                                         .least = 1,
                                         .use = FieldUse::Runs,
                                         .help = "Optimizer steps between two captures."};
inline constexpr Field histogramWeights = {.path = "trainer.callbacks[HistogramCapture].weights",
                                           .knob = "callback.HistogramCapture.weights",
                                           .label = "Histograms: weights",
                                           .type = FieldType::Bool,
                                           .stage = "record",
                                           .fallback = "true",
                                           .use = FieldUse::Runs,
                                           .help = "Counts the exponents of the weights."};
inline constexpr Field histogramGradients = {
    .path = "trainer.callbacks[HistogramCapture].gradients",
    .knob = "callback.HistogramCapture.gradients",
    .label = "Histograms: gradients",
    .type = FieldType::Bool,
    .stage = "record",
    .fallback = "true",
    .use = FieldUse::Runs,
    .help = "Counts the exponents of the unscaled gradients, before clipping."};
inline constexpr Field histogramUpdates = {.path = "trainer.callbacks[HistogramCapture].updates",
                                           .knob = "callback.HistogramCapture.updates",
                                           .label = "Histograms: updates",
                                           .type = FieldType::Bool,
                                           .stage = "record",
                                           .fallback = "true",
                                           .use = FieldUse::Runs,
                                           .help = "Counts the exponents of what a step changed."};

} // namespace mantissa::field
