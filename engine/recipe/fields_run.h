#pragma once

#include "engine/recipe/field.h"

#include <array>

// How the set-up runs here, and Fabric calls.
namespace mantissa::field {

inline constexpr Field target = {.path = "mantissa.target",
                                 .label = "target",
                                 .type = FieldType::Text,
                                 .stage = "configure",
                                 .fallback = "trainer-2.6.6",
                                 .help = "What the set-up is meant to run on: a named target."};
inline constexpr std::array<std::string_view, 3> kModeChoices = {"default", "faithful", "extended"};
inline constexpr Field mode = {.path = "mantissa.mode",
                               .label = "mode",
                               .type = FieldType::Choice,
                               .stage = "configure",
                               .fallback = "default",
                               .choices = kModeChoices,
                               .use = FieldUse::Runs,
                               .help =
                                   "default refuses what the target refuses; faithful stops where the target "
                                   "stops, with its error; extended trains where this engine can do better."};
inline constexpr Field ranks = {
    .path = "mantissa.ranks",
    .label = "ranks",
    .type = FieldType::Integer,
    .stage = "configure",
    .least = 1,
    .most = 64,
    .use = FieldUse::Runs,
    .help = "Ranks on this machine, each a thread. By default devices, where that is a number, else 1."};
inline constexpr Field threads = {
    .path = "mantissa.threads",
    .label = "threads",
    .type = FieldType::Integer,
    .stage = "configure",
    .fallback = "1",
    .least = 1,
    .most = 256,
    .unit = "threads",
    .use = FieldUse::Runs,
    .help = "Threads that each rank computes with. Other numbers of threads give other last bits."};
inline constexpr Field keepCheckpoints = {
    .path = "mantissa.keep_checkpoints",
    .label = "keep_checkpoints",
    .type = FieldType::Integer,
    .stage = "record",
    .fallback = "1",
    .least = -1,
    .use = FieldUse::Runs,
    .help =
        "How many of a run's newest checkpoints stay; -1: all. Those that ModelCheckpoint finds best stay "
        "besides."};
inline constexpr Field rewindEvery = {.path = "mantissa.rewind_every",
                                      .label = "rewind_every",
                                      .type = FieldType::Integer,
                                      .stage = "record",
                                      .fallback = "0",
                                      .least = 0,
                                      .use = FieldUse::Runs,
                                      .help = "Keeps what a rewind needs: two rolling checkpoints, so many "
                                              "optimizer steps apart, and a hash of the "
                                              "parameters after each step. 0: off."};
inline constexpr Field fabricMaxNorm = {.path = "mantissa.fabric.max_norm",
                                        .knob = "fabric.max_norm",
                                        .label = "max_norm",
                                        .type = FieldType::Number,
                                        .stage = "clip",
                                        .least = 0,
                                        .use = FieldUse::Runs,
                                        .help = "Fabric: the norm given to clip_gradients."};
inline constexpr Field fabricClipValue = {.path = "mantissa.fabric.clip_val",
                                          .knob = "fabric.clip_val",
                                          .label = "clip_val",
                                          .type = FieldType::Number,
                                          .stage = "clip",
                                          .least = 0,
                                          .use = FieldUse::Runs,
                                          .help = "Fabric: the largest element given to clip_gradients."};
inline constexpr Field normType = {.path = "mantissa.fabric.norm_type",
                                   .label = "norm_type",
                                   .type = FieldType::Number,
                                   .stage = "clip",
                                   .fallback = "2.0",
                                   .least = 0,
                                   .use = FieldUse::Runs,
                                   .help = "The p of the norm; .inf takes the largest element."};
inline constexpr Field fabricErrorIfNonfinite = {
    .path = "mantissa.fabric.error_if_nonfinite",
    .label = "error_if_nonfinite",
    .type = FieldType::Bool,
    .stage = "clip",
    .fallback = "true",
    .help = "Fabric: clip_gradients refuses a norm that is not finite, and so stops at the first overflow. "
            "FSDP ignores it."};
inline constexpr std::array<std::string_view, 3> kFabricSetupOrderChoices = {"joint", "module-then-optimizer",
                                                                             "optimizer-before-module"};
inline constexpr Field fabricSetupOrder = {
    .path = "mantissa.fabric.setup_order",
    .knob = "fabric.setup_order",
    .label = "set-up order",
    .type = FieldType::Choice,
    .stage = "setup",
    .fallback = "joint",
    .choices = kFabricSetupOrderChoices,
    .help = "Fabric: in which order module and optimizer are handed over."};
inline constexpr std::array<std::string_view, 5> kFabricStateChoices = {
    "one-model", "several-models", "no-model", "bare-module", "bare-optimizer"};
inline constexpr Field fabricState = {.path = "mantissa.fabric.state",
                                      .knob = "fabric.state",
                                      .label = "models in the state",
                                      .type = FieldType::Choice,
                                      .stage = "record",
                                      .fallback = "one-model",
                                      .choices = kFabricStateChoices,
                                      .help = "Fabric: what the saved state holds."};
inline constexpr Field fabricNoBackwardSync = {
    .path = "mantissa.fabric.no_backward_sync",
    .knob = "fabric.no_backward_sync",
    .label = "no_backward_sync",
    .type = FieldType::Bool,
    .stage = "reduce",
    .fallback = "false",
    .help = "Fabric: micro batches before the last of a window skip the reduction."};
inline constexpr Field fabricCli = {.path = "mantissa.fabric.cli",
                                    .knob = "fabric.cli",
                                    .label = "started by fabric run",
                                    .type = FieldType::Bool,
                                    .stage = "configure",
                                    .fallback = "false",
                                    .help = "Fabric: the script is started by the command fabric run."};
inline constexpr Field fabricSaveFilter = {.path = "mantissa.fabric.save_filter",
                                           .knob = "fabric.save_filter",
                                           .label = "save filter",
                                           .type = FieldType::Any,
                                           .stage = "record",
                                           .help = "Fabric: functions that choose what is saved."};

} // namespace mantissa::field
