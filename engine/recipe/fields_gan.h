#pragma once

#include "engine/recipe/field.h"

// Two networks against each other, with the optimizers that the model brings along.
namespace mantissa::field {

inline constexpr Field modelLatent = {.path = "model.init_args.latent_dim",
                                      .label = "latent_dim",
                                      .type = FieldType::Integer,
                                      .stage = "forward",
                                      .fallback = "64",
                                      .least = 1,
                                      .use = FieldUse::Runs,
                                      .help = "GAN: random numbers that a sample is made of.",
                                      .classes = "GAN"};
inline constexpr Field discriminatorSteps = {
    .path = "model.init_args.discriminator_steps",
    .label = "discriminator_steps",
    .type = FieldType::Integer,
    .stage = "optimizer",
    .fallback = "1",
    .least = 1,
    .use = FieldUse::Runs,
    .help =
        "GAN: steps of the discriminator, each on a batch of its own, before the generator takes one. All "
        "of them together are one step of the run.",
    .classes = "GAN"};
inline constexpr Field lrDiscriminator = {.path = "model.init_args.lr_discriminator",
                                          .label = "lr_discriminator",
                                          .type = FieldType::Number,
                                          .stage = "optimizer",
                                          .fallback = "0.0002",
                                          .least = 0,
                                          .use = FieldUse::Runs,
                                          .help = "GAN: learning rate of the discriminator's Adam.",
                                          .classes = "GAN"};
inline constexpr Field lrGenerator = {.path = "model.init_args.lr_generator",
                                      .label = "lr_generator",
                                      .type = FieldType::Number,
                                      .stage = "optimizer",
                                      .fallback = "0.0002",
                                      .least = 0,
                                      .use = FieldUse::Runs,
                                      .help = "GAN: learning rate of the generator's Adam.",
                                      .classes = "GAN"};
inline constexpr Field ganBetas = {
    .path = "model.init_args.betas",
    .label = "betas",
    .type = FieldType::List,
    .stage = "optimizer",
    .fallback = "[0.5, 0.999]",
    .use = FieldUse::Runs,
    .help = "GAN: how long the two Adam optimizers remember gradients and their squares.",
    .classes = "GAN"};

} // namespace mantissa::field
