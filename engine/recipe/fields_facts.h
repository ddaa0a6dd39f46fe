#pragma once

#include "engine/recipe/field.h"

#include <array>

// Facts about the module that no configuration file tells.
namespace mantissa::field {

inline constexpr Field automaticOptimization = {
    .path = "mantissa.facts.automatic_optimization",
    .knob = "module.automatic_optimization",
    .label = "automatic optimization",
    .type = FieldType::Bool,
    .stage = "fit_start",
    .fallback = "true",
    .help = "The Trainer calls backward and step. False: the module does it itself."};
inline constexpr std::array<std::string_view, 8> kOverridesChoices = {
    "configure_gradient_clipping", "optimizer_step",  "optimizer_zero_grad",     "backward",
    "lr_scheduler_step",           "configure_model", "configure_sharded_model", "configure_callbacks"};
inline constexpr Field overrides = {.path = "mantissa.facts.overrides",
                                    .knob = "module.overrides",
                                    .label = "overridden hooks",
                                    .type = FieldType::List,
                                    .stage = "fit_start",
                                    .fallback = "[]",
                                    .choices = kOverridesChoices,
                                    .help = "Hooks that the module defines itself."};
inline constexpr Field ownClipping = {.path = "mantissa.facts.own_clipping",
                                      .label = "clips in its own way",
                                      .type = FieldType::Bool,
                                      .stage = "clip",
                                      .fallback = "false",
                                      .help = "The module's own configure_gradient_clipping clips without "
                                              "self.clip_gradients, for example through the "
                                              "wrapped model."};
inline constexpr Field numOptimizers = {.path = "mantissa.facts.num_optimizers",
                                        .knob = "module.num_optimizers",
                                        .label = "optimizers",
                                        .type = FieldType::Integer,
                                        .stage = "setup",
                                        .fallback = "1",
                                        .least = 0,
                                        .help = "How many optimizers configure_optimizers returns."};
inline constexpr Field numSchedules = {.path = "mantissa.facts.num_lr_schedulers",
                                       .knob = "module.num_lr_schedulers",
                                       .label = "schedules",
                                       .type = FieldType::Integer,
                                       .stage = "setup",
                                       .least = 0,
                                       .help = "How many schedules configure_optimizers returns."};
inline constexpr std::array<std::string_view, 2> kOptimizerMadeChoices = {"after-sharding",
                                                                          "before-sharding"};
inline constexpr Field optimizerMade = {
    .path = "mantissa.facts.optimizer_made",
    .label = "optimizer made",
    .type = FieldType::Choice,
    .stage = "setup",
    .fallback = "after-sharding",
    .choices = kOptimizerMadeChoices,
    .help = "When the optimizer is made: in configure_optimizers, after the module is sharded, or earlier."};
inline constexpr std::array<std::string_view, 4> kParamsSourceChoices = {"self", "trainer.model",
                                                                         "requires_grad-only", "self.layer"};
inline constexpr Field paramsSource = {.path = "mantissa.facts.optimizer.params_source",
                                       .knob = "module.optimizer.params_source",
                                       .label = "parameters from",
                                       .type = FieldType::Choice,
                                       .stage = "setup",
                                       .fallback = "self",
                                       .choices = kParamsSourceChoices,
                                       .help = "Which parameters the optimizer is given."};
inline constexpr Field metaParameters = {
    .path = "mantissa.facts.meta_parameters",
    .knob = "module.meta_parameters",
    .label = "meta parameters",
    .type = FieldType::Bool,
    .stage = "setup",
    .fallback = "false",
    .help = "Parameters have no storage yet when the module is handed over."};
inline constexpr Field resetParameters = {.path = "mantissa.facts.reset_parameters",
                                          .knob = "module.reset_parameters",
                                          .label = "reset_parameters",
                                          .type = FieldType::Bool,
                                          .stage = "setup",
                                          .fallback = "true",
                                          .help =
                                              "Every module with parameters without storage can fill them."};
inline constexpr Field wrapsFsdp = {.path = "mantissa.facts.wraps_fsdp",
                                    .knob = "module.wraps_fsdp",
                                    .label = "wraps FSDP itself",
                                    .type = FieldType::Bool,
                                    .stage = "setup",
                                    .fallback = "false",
                                    .help = "The module wraps its own layers in FSDP."};
inline constexpr Field severalFsdpModels = {.path = "mantissa.facts.several_fsdp_models",
                                            .label = "several FSDP models",
                                            .type = FieldType::Bool,
                                            .stage = "record",
                                            .fallback = "false",
                                            .help = "More than one sharded model is saved in one state."};
inline constexpr Field selfUnscaling = {
    .path = "mantissa.facts.self_unscaling",
    .label = "optimizer unscales itself",
    .type = FieldType::Bool,
    .stage = "unscale",
    .help = "The optimizer announces that it divides by the loss scale itself. Fused ones of torch do."};
inline constexpr Field tiedParameters = {.path = "mantissa.facts.tied_parameters",
                                         .knob = "module.tied_parameters",
                                         .label = "tied parameters",
                                         .type = FieldType::Bool,
                                         .stage = "setup",
                                         .fallback = "false",
                                         .help = "Two layers share a parameter."};
inline constexpr Field unusedParameters = {.path = "mantissa.facts.unused_parameters",
                                           .knob = "module.unused_parameters",
                                           .label = "unused parameters",
                                           .type = FieldType::Bool,
                                           .stage = "backward",
                                           .fallback = "false",
                                           .help = "Some parameters get no gradient."};
inline constexpr Field compiled = {.path = "mantissa.facts.compiled",
                                   .knob = "module.compiled",
                                   .label = "compiled",
                                   .type = FieldType::Bool,
                                   .stage = "forward",
                                   .fallback = "false",
                                   .help = "torch.compile was called on the module."};
inline constexpr Field hasBatchnorm = {.path = "mantissa.facts.has_batchnorm",
                                       .knob = "module.has_batchnorm",
                                       .label = "batch normalisation",
                                       .type = FieldType::Bool,
                                       .stage = "forward",
                                       .fallback = "false",
                                       .help = "The module has batch normalisation."};
inline constexpr std::array<std::string_view, 6> kTrainingStepOutputChoices = {
    "tensor", "dict", "dict-without-loss", "list", "none", "float"};
inline constexpr Field trainingStepOutput = {.path = "mantissa.facts.training_step_output",
                                             .knob = "module.training_step_output",
                                             .label = "training_step returns",
                                             .type = FieldType::Choice,
                                             .stage = "loss",
                                             .fallback = "tensor",
                                             .choices = kTrainingStepOutputChoices,
                                             .help = "What training_step gives back."};

} // namespace mantissa::field
