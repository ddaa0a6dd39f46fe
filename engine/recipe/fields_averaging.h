#pragma once

#include "engine/recipe/field.h"

#include <array>

// Callbacks that average weights.
namespace mantissa::field {

inline constexpr Field swaLrs = {.path = "trainer.callbacks[StochasticWeightAveraging].swa_lrs",
                                 .knob = "callback.StochasticWeightAveraging.swa_lrs",
                                 .label = "SWA: learning rate",
                                 .type = FieldType::Any,
                                 .stage = "optimizer",
                                 .use = FieldUse::Runs,
                                 .help = "The rate that weight averaging anneals to."};
inline constexpr Field swaEpochStart = {
    .path = "trainer.callbacks[StochasticWeightAveraging].swa_epoch_start",
    .knob = "callback.StochasticWeightAveraging.swa_epoch_start",
    .label = "SWA: swa_epoch_start",
    .type = FieldType::Any,
    .stage = "optimizer",
    .fallback = "0.8",
    .least = 0,
    .use = FieldUse::Runs,
    .help =
        "The epoch from which on weights are averaged, counted from 1, or a share of all epochs below 1.0."};
inline constexpr Field swaAnnealingEpochs = {
    .path = "trainer.callbacks[StochasticWeightAveraging].annealing_epochs",
    .knob = "callback.StochasticWeightAveraging.annealing_epochs",
    .label = "SWA: annealing_epochs",
    .type = FieldType::Integer,
    .stage = "optimizer",
    .fallback = "10",
    .least = 0,
    .use = FieldUse::Runs,
    .help = "Epochs on the way to the rate of averaging."};
inline constexpr std::array<std::string_view, 2> kSwaAnnealingStrategyChoices = {"cos", "linear"};
inline constexpr Field swaAnnealingStrategy = {
    .path = "trainer.callbacks[StochasticWeightAveraging].annealing_strategy",
    .knob = "callback.StochasticWeightAveraging.annealing_strategy",
    .label = "SWA: annealing_strategy",
    .type = FieldType::Choice,
    .stage = "optimizer",
    .fallback = "cos",
    .choices = kSwaAnnealingStrategyChoices,
    .use = FieldUse::Runs,
    .help = "The way there: along a cosine or a line."};
inline constexpr Field emaDecay = {.path = "trainer.callbacks[EMAWeightAveraging].decay",
                                   .knob = "callback.EMAWeightAveraging.decay",
                                   .label = "EMA: decay",
                                   .type = FieldType::Number,
                                   .stage = "optimizer",
                                   .fallback = "0.999",
                                   .least = 0,
                                   .most = 1,
                                   .use = FieldUse::Runs,
                                   .help = "How much of the old average stays at each update."};
inline constexpr Field emaEverySteps = {.path = "trainer.callbacks[EMAWeightAveraging].update_every_n_steps",
                                        .knob = "callback.EMAWeightAveraging.update_every_n_steps",
                                        .label = "EMA: update_every_n_steps",
                                        .type = FieldType::Integer,
                                        .stage = "optimizer",
                                        .fallback = "1",
                                        .least = 1,
                                        .use = FieldUse::Runs,
                                        .help = "Optimizer steps between two updates of the average."};
inline constexpr Field emaStartStep = {
    .path = "trainer.callbacks[EMAWeightAveraging].update_starting_at_step",
    .knob = "callback.EMAWeightAveraging.update_starting_at_step",
    .label = "EMA: update_starting_at_step",
    .type = FieldType::Integer,
    .stage = "optimizer",
    .least = 0,
    .use = FieldUse::Runs,
    .help = "The first optimizer step, from 0, after which the average is updated."};
inline constexpr Field emaStartEpoch = {
    .path = "trainer.callbacks[EMAWeightAveraging].update_starting_at_epoch",
    .knob = "callback.EMAWeightAveraging.update_starting_at_epoch",
    .label = "EMA: update_starting_at_epoch",
    .type = FieldType::Integer,
    .stage = "optimizer",
    .least = 0,
    .use = FieldUse::Runs,
    .help = "The first epoch, from 0, after which the average is updated as well."};
inline constexpr Field emaUseBuffers = {.path = "trainer.callbacks[EMAWeightAveraging].use_buffers",
                                        .knob = "callback.EMAWeightAveraging.use_buffers",
                                        .label = "EMA: use_buffers",
                                        .type = FieldType::Bool,
                                        .stage = "optimizer",
                                        .fallback = "true",
                                        .use = FieldUse::Runs,
                                        .help = "Averages running statistics too."};

} // namespace mantissa::field
