#pragma once

#include "engine/recipe/field.h"

#include <array>

// Flags of the Trainer: loops, accumulation and clipping.
namespace mantissa::field {

inline constexpr Field overfitBatches = {
    .path = "trainer.overfit_batches",
    .knob = "overfit_batches",
    .label = "overfit_batches",
    .type = FieldType::Any,
    .stage = "data",
    .fallback = "0.0",
    .least = 0,
    .help = "Trains on a few batches again and again, to see whether the model can learn them."};
inline constexpr Field valCheckInterval = {
    .path = "trainer.val_check_interval",
    .knob = "val_check_interval",
    .label = "val_check_interval",
    .type = FieldType::Any,
    .stage = "data",
    .fallback = "1.0",
    .use = FieldUse::Runs,
    .help = "How often validation runs: a share of an epoch, or a number of batches."};
inline constexpr Field checkValEveryNEpoch = {
    .path = "trainer.check_val_every_n_epoch",
    .knob = "check_val_every_n_epoch",
    .label = "check_val_every_n_epoch",
    .type = FieldType::Integer,
    .stage = "data",
    .fallback = "1",
    .least = 1,
    .use = FieldUse::Runs,
    .help = "Validation runs after every n-th epoch; null counts batches across epochs."};
inline constexpr Field numSanityValSteps = {
    .path = "trainer.num_sanity_val_steps",
    .knob = "num_sanity_val_steps",
    .label = "num_sanity_val_steps",
    .type = FieldType::Integer,
    .stage = "fit_start",
    .fallback = "2",
    .least = -1,
    .use = FieldUse::Runs,
    .help = "Validation batches that are tried before training starts; -1 tries all."};
inline constexpr Field reloadDataloaders = {
    .path = "trainer.reload_dataloaders_every_n_epochs",
    .knob = "reload_dataloaders_every_n_epochs",
    .label = "reload_dataloaders_every_n_epochs",
    .type = FieldType::Integer,
    .stage = "data",
    .fallback = "0",
    .least = 0,
    .help = "Makes the loaders anew after every n-th epoch; 0 never does."};
inline constexpr Field useDistributedSampler = {
    .path = "trainer.use_distributed_sampler",
    .knob = "use_distributed_sampler",
    .label = "use_distributed_sampler",
    .type = FieldType::Bool,
    .stage = "data",
    .fallback = "true",
    .help = "Lets the Trainer give each rank its own part of the data."};
inline constexpr Field accumulate = {.path = "trainer.accumulate_grad_batches",
                                     .knob = "accumulate_grad_batches",
                                     .label = "accumulate_grad_batches",
                                     .type = FieldType::Integer,
                                     .stage = "loss",
                                     .fallback = "1",
                                     .least = 1,
                                     .use = FieldUse::Runs,
                                     .help = "Micro batches whose gradients are added up before one "
                                             "optimizer step. The loss of each is divided by it."};
inline constexpr Field clipValue = {
    .path = "trainer.gradient_clip_val",
    .knob = "gradient_clip_val",
    .label = "gradient_clip_val",
    .type = FieldType::Number,
    .stage = "clip",
    .least = 0,
    .use = FieldUse::Runs,
    .help = "The largest norm, or the largest element, that gradients may have. 0 or nothing: no clipping."};
inline constexpr std::array<std::string_view, 2> kClipAlgorithmChoices = {"norm", "value"};
inline constexpr Field clipAlgorithm = {
    .path = "trainer.gradient_clip_algorithm",
    .knob = "gradient_clip_algorithm",
    .label = "gradient_clip_algorithm",
    .type = FieldType::Choice,
    .stage = "clip",
    .fallback = "norm",
    .choices = kClipAlgorithmChoices,
    .use = FieldUse::Runs,
    .help = "norm scales all gradients down together; value cuts each element off by itself."};
inline constexpr Field syncBatchnorm = {
    .path = "trainer.sync_batchnorm",
    .knob = "sync_batchnorm",
    .label = "sync_batchnorm",
    .type = FieldType::Bool,
    .stage = "forward",
    .fallback = "false",
    .help = "Batch normalisation over the batches of all ranks. Needs a GPU."};

} // namespace mantissa::field
