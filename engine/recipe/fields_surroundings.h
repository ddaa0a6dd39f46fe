#pragma once

#include "engine/recipe/field.h"

#include <array>

// Facts about data, entry point and machine that no configuration file tells.
namespace mantissa::field {

inline constexpr Field manualCalls = {.path = "mantissa.facts.manual_calls",
                                      .knob = "module.manual_calls",
                                      .label = "manual calls",
                                      .type = FieldType::List,
                                      .stage = "optimizer",
                                      .fallback = "[]",
                                      .help = "What training_step calls in manual optimization."};
inline constexpr std::array<std::string_view, 2> kScalerObjectChoices = {"GradScaler", "ShardedGradScaler"};
inline constexpr Field scalerObject = {.path = "mantissa.facts.scaler",
                                       .knob = "scaler",
                                       .label = "scaler",
                                       .type = FieldType::Text,
                                       .stage = "configure",
                                       .choices = kScalerObjectChoices,
                                       .help = "A loss scaler object that code hands to the precision."};
inline constexpr Field dataLength = {.path = "mantissa.facts.data.length",
                                     .knob = "data.length",
                                     .label = "samples",
                                     .type = FieldType::Integer,
                                     .stage = "data",
                                     .least = 0,
                                     .help = "Samples in the data set."};
inline constexpr Field dataIterable = {.path = "mantissa.facts.data.iterable",
                                       .knob = "data.iterable",
                                       .label = "iterable",
                                       .type = FieldType::Bool,
                                       .stage = "data",
                                       .fallback = "false",
                                       .help = "The data set can only be walked through and has no length."};
inline constexpr Field dataSampler = {.path = "mantissa.facts.data.sampler",
                                      .knob = "data.sampler",
                                      .label = "sampler",
                                      .type = FieldType::Text,
                                      .stage = "data",
                                      .fallback = "default",
                                      .help = "What chooses the order of samples."};
inline constexpr Field hasValLoader = {.path = "mantissa.facts.data.has_val_loader",
                                       .knob = "data.has_val_loader",
                                       .label = "validation data",
                                       .type = FieldType::Bool,
                                       .stage = "data",
                                       .fallback = "true",
                                       .help = "There is a validation loader."};
inline constexpr std::array<std::string_view, 5> kRunFnChoices = {"fit", "validate", "test", "predict",
                                                                  "construct"};
inline constexpr Field runFn = {.path = "mantissa.facts.run.fn",
                                .knob = "run.fn",
                                .label = "entry point",
                                .type = FieldType::Choice,
                                .stage = "configure",
                                .fallback = "fit",
                                .choices = kRunFnChoices,
                                .help = "What is called on the Trainer."};
inline constexpr Field runCkptPath = {.path = "mantissa.facts.run.ckpt_path",
                                      .knob = "run.ckpt_path",
                                      .label = "resume from",
                                      .type = FieldType::Text,
                                      .stage = "configure",
                                      .help = "The checkpoint that the run starts from."};
inline constexpr Field envGpus = {
    .path = "mantissa.facts.env.num_gpus",
    .knob = "env.num_gpus",
    .label = "GPUs",
    .type = FieldType::Integer,
    .stage = "configure",
    .least = 0,
    .help = "GPUs of the machine. A batch row says it here, and it wins over the target."};
inline constexpr Field envPackages = {.path = "mantissa.facts.env.packages",
                                      .knob = "env.packages",
                                      .label = "packages",
                                      .type = FieldType::List,
                                      .stage = "configure",
                                      .help = "Optional packages that are installed."};
inline constexpr Field envVars = {.path = "mantissa.facts.env.vars",
                                  .knob = "env.vars",
                                  .label = "environment",
                                  .type = FieldType::Map,
                                  .stage = "configure",
                                  .help = "Environment variables that matter."};
inline constexpr Field envInteractive = {.path = "mantissa.facts.env.interactive",
                                         .knob = "env.interactive",
                                         .label = "notebook",
                                         .type = FieldType::Bool,
                                         .stage = "configure",
                                         .fallback = "false",
                                         .help = "The program runs in a notebook."};

} // namespace mantissa::field
