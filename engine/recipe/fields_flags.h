#pragma once

#include "engine/recipe/field.h"

#include <array>

// Flags of the Trainer: checks, logging, checkpoints, and lists of objects.
namespace mantissa::field {

inline constexpr Field deterministic = {.path = "trainer.deterministic",
                                        .knob = "deterministic",
                                        .label = "deterministic",
                                        .type = FieldType::Any,
                                        .stage = "configure",
                                        .fallback = "false",
                                        .help = "Asks torch for deterministic kernels; warn only tells where "
                                                "there are none. This engine repeats its bits in any case."};
inline constexpr Field benchmark = {.path = "trainer.benchmark",
                                    .knob = "benchmark",
                                    .label = "benchmark",
                                    .type = FieldType::Bool,
                                    .stage = "configure",
                                    .help = "Lets cuDNN try its kernels and keep the fastest."};
inline constexpr Field inferenceMode = {.path = "trainer.inference_mode",
                                        .knob = "inference_mode",
                                        .label = "inference_mode",
                                        .type = FieldType::Bool,
                                        .stage = "configure",
                                        .fallback = "true",
                                        .help = "Evaluation runs without any trace for gradients."};
inline constexpr Field detectAnomaly = {.path = "trainer.detect_anomaly",
                                        .knob = "detect_anomaly",
                                        .label = "detect_anomaly",
                                        .type = FieldType::Bool,
                                        .stage = "backward",
                                        .fallback = "false",
                                        .help = "Stops at the operation whose gradient is NaN. Slow."};
inline constexpr Field barebones = {
    .path = "trainer.barebones",
    .knob = "barebones",
    .label = "barebones",
    .type = FieldType::Bool,
    .stage = "configure",
    .fallback = "false",
    .help = "Switches off everything that costs time beside training: checkpoints, logging, bars, checks."};
inline constexpr Field profiler = {.path = "trainer.profiler",
                                   .knob = "profiler",
                                   .label = "profiler",
                                   .type = FieldType::Any,
                                   .stage = "configure",
                                   .help = "Measures where the time goes: simple, advanced, pytorch or xla."};
inline constexpr Field logger = {
    .path = "trainer.logger",
    .knob = "logger",
    .label = "logger",
    .type = FieldType::Any,
    .stage = "record",
    .fallback = "true",
    .help = "Where the Trainer writes metrics. Mantissa stores every run in its history in any case."};
inline constexpr Field logEveryNSteps = {
    .path = "trainer.log_every_n_steps",
    .knob = "log_every_n_steps",
    .label = "log_every_n_steps",
    .type = FieldType::Integer,
    .stage = "record",
    .fallback = "50",
    .least = 0,
    .help = "How often the Trainer logs. Mantissa records every step in any case."};
inline constexpr Field enableCheckpointing = {.path = "trainer.enable_checkpointing",
                                              .knob = "enable_checkpointing",
                                              .label = "enable_checkpointing",
                                              .type = FieldType::Bool,
                                              .stage = "record",
                                              .fallback = "true",
                                              .use = FieldUse::Runs,
                                              .help = "Writes a checkpoint when the run ends or is stopped."};
inline constexpr Field enableProgressBar = {.path = "trainer.enable_progress_bar",
                                            .knob = "enable_progress_bar",
                                            .label = "enable_progress_bar",
                                            .type = FieldType::Bool,
                                            .stage = "record",
                                            .fallback = "true",
                                            .help = "Shows a progress bar in the terminal of the target."};
inline constexpr Field enableModelSummary = {.path = "trainer.enable_model_summary",
                                             .knob = "enable_model_summary",
                                             .label = "enable_model_summary",
                                             .type = FieldType::Bool,
                                             .stage = "configure",
                                             .fallback = "true",
                                             .help = "Prints the layers of the model before training."};
inline constexpr Field defaultRootDir = {
    .path = "trainer.default_root_dir",
    .knob = "default_root_dir",
    .label = "default_root_dir",
    .type = FieldType::Text,
    .stage = "record",
    .help = "Where the Trainer puts logs and checkpoints. Mantissa has its history folder."};
inline constexpr Field autologHparams = {.path = "trainer.enable_autolog_hparams",
                                         .knob = "enable_autolog_hparams",
                                         .label = "enable_autolog_hparams",
                                         .type = FieldType::Bool,
                                         .stage = "record",
                                         .fallback = "true",
                                         .help = "Logs the hyper-parameters when training starts."};
inline constexpr Field modelRegistry = {.path = "trainer.model_registry",
                                        .knob = "model_registry",
                                        .label = "model_registry",
                                        .type = FieldType::Text,
                                        .stage = "record",
                                        .help = "The registry that checkpoints are sent to."};
inline constexpr std::array<std::string_view, 11> kCallbacksChoices = {
    "ModelCheckpoint",    "LearningRateMonitor", "EarlyStopping", "StochasticWeightAveraging",
    "EMAWeightAveraging", "DeviceStatsMonitor",  "Timer",         "SpikeDetection",
    "StopOnNaN",          "HistogramCapture",    "ModelSummary"};
inline constexpr Field callbacks = {.path = "trainer.callbacks",
                                    .label = "callbacks",
                                    .type = FieldType::List,
                                    .stage = "configure",
                                    .fallback = "[]",
                                    .choices = kCallbacksChoices,
                                    .use = FieldUse::Runs,
                                    .help = "Classes with code that runs at fixed moments of training."};
inline constexpr Field plugins = {.path = "trainer.plugins",
                                  .label = "plugins",
                                  .type = FieldType::List,
                                  .stage = "configure",
                                  .fallback = "[]",
                                  .use = FieldUse::Runs,
                                  .help = "Objects that replace a part of the Trainer: its precision, its "
                                          "checkpoint writer, its cluster environment."};

} // namespace mantissa::field
