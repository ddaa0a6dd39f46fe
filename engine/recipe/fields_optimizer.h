#pragma once

#include "engine/recipe/field.h"

#include <array>

// The optimizer.
namespace mantissa::field {

inline constexpr std::array<std::string_view, 7> kOptimizerClassChoices = {
    "torch.optim.AdamW",           "torch.optim.Adam",    "torch.optim.SGD",
    "torch.optim.Adagrad",         "torch.optim.RMSprop", "torch.optim.LBFGS",
    "bitsandbytes.optim.AdamW8bit"};
inline constexpr Field optimizerClass = {.path = "optimizer.class_path",
                                         .knob = "module.optimizer.class",
                                         .label = "optimizer",
                                         .type = FieldType::Choice,
                                         .stage = "optimizer",
                                         .choices = kOptimizerClassChoices,
                                         .use = FieldUse::Runs,
                                         .help = "The algorithm that turns gradients into new weights."};
inline constexpr Field learningRate = {.path = "optimizer.init_args.lr",
                                       .label = "lr",
                                       .type = FieldType::Number,
                                       .stage = "optimizer",
                                       .fallback = "0.001",
                                       .least = 0,
                                       .use = FieldUse::Runs,
                                       .help = "The base learning rate; a schedule multiplies it."};
inline constexpr Field fused = {.path = "optimizer.init_args.fused",
                                .knob = "module.optimizer.fused",
                                .label = "fused",
                                .type = FieldType::Bool,
                                .stage = "optimizer",
                                .fallback = "false",
                                .use = FieldUse::Runs,
                                .help = "One kernel does the whole step, and divides by the loss scale "
                                        "itself. Then nobody may unscale before it.",
                                .classes = "Adam AdamW SGD Adagrad"};
inline constexpr Field foreach = {
    .path = "optimizer.init_args.foreach",
    .knob = "module.optimizer.foreach",
    .label = "foreach",
    .type = FieldType::Bool,
    .stage = "optimizer",
    .use = FieldUse::Runs,
    .help =
        "Updates all tensors together, operation by operation. Differs from the loop in the last bits only.",
    .classes = "Adam AdamW SGD Adagrad RMSprop"};
inline constexpr Field betas = {.path = "optimizer.init_args.betas",
                                .label = "betas",
                                .type = FieldType::List,
                                .stage = "optimizer",
                                .fallback = "[0.9, 0.999]",
                                .use = FieldUse::Runs,
                                .help = "How long the first and the second moment of Adam remember. In "
                                        "bf16-true a second value close to 1 cannot fall.",
                                .classes = "Adam AdamW AdamW8bit"};
inline constexpr Field eps = {.path = "optimizer.init_args.eps",
                              .knob = "module.optimizer.eps",
                              .label = "eps",
                              .type = FieldType::Number,
                              .stage = "optimizer",
                              .fallback = "1.0e-08",
                              .least = 0,
                              .use = FieldUse::Runs,
                              .help = "Keeps Adam from dividing by zero. In fp16 the default rounds to zero.",
                              .classes = "Adam AdamW AdamW8bit Adagrad RMSprop"};
inline constexpr Field weightDecay = {
    .path = "optimizer.init_args.weight_decay",
    .label = "weight_decay",
    .type = FieldType::Number,
    .stage = "optimizer",
    .least = 0,
    .use = FieldUse::Runs,
    .help = "Pulls weights towards zero. Without a word AdamW takes 0.01 and the others 0.",
    .classes = "Adam AdamW AdamW8bit SGD Adagrad RMSprop"};
inline constexpr Field momentum = {.path = "optimizer.init_args.momentum",
                                   .knob = "module.optimizer.momentum",
                                   .label = "momentum",
                                   .type = FieldType::Number,
                                   .stage = "optimizer",
                                   .fallback = "0.0",
                                   .least = 0,
                                   .use = FieldUse::Runs,
                                   .help = "SGD: how much of the last step goes on.",
                                   .classes = "SGD RMSprop"};
inline constexpr Field dampening = {
    .path = "optimizer.init_args.dampening",
    .label = "dampening",
    .type = FieldType::Number,
    .stage = "optimizer",
    .fallback = "0.0",
    .use = FieldUse::Runs,
    .help = "SGD: takes this share off each new gradient that enters the momentum.",
    .classes = "SGD"};
inline constexpr Field nesterov = {
    .path = "optimizer.init_args.nesterov",
    .label = "nesterov",
    .type = FieldType::Bool,
    .stage = "optimizer",
    .fallback = "false",
    .use = FieldUse::Runs,
    .help = "SGD: looks a step of momentum ahead. Needs momentum, and no dampening.",
    .classes = "SGD"};
inline constexpr Field amsgrad = {.path = "optimizer.init_args.amsgrad",
                                  .label = "amsgrad",
                                  .type = FieldType::Bool,
                                  .stage = "optimizer",
                                  .fallback = "false",
                                  .use = FieldUse::Runs,
                                  .help = "Adam: divides by the largest second moment seen so far.",
                                  .classes = "Adam AdamW"};
inline constexpr Field maximize = {.path = "optimizer.init_args.maximize",
                                   .label = "maximize",
                                   .type = FieldType::Bool,
                                   .stage = "optimizer",
                                   .fallback = "false",
                                   .use = FieldUse::Runs,
                                   .help = "Climbs instead of descending.",
                                   .classes = "Adam AdamW SGD Adagrad RMSprop"};

} // namespace mantissa::field
