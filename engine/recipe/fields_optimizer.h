#pragma once

#include "engine/recipe/field.h"

#include <array>

// The optimizer.
namespace mantissa::field {

inline constexpr std::array<std::string_view, 11> kOptimizerClassChoices = {"torch.optim.AdamW",
                                                                            "torch.optim.Adam",
                                                                            "torch.optim.SGD",
                                                                            "torch.optim.Adagrad",
                                                                            "torch.optim.RMSprop",
                                                                            "torch.optim.LBFGS",
                                                                            "lion_pytorch.Lion",
                                                                            "bitsandbytes.optim.AdamW8bit",
                                                                            "bitsandbytes.optim.Adam8bit",
                                                                            "bitsandbytes.optim.Lion8bit",
                                                                            "bitsandbytes.optim.SGD8bit"};
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
                                       .help =
                                           "The base learning rate; a schedule multiplies it. Without a word "
                                           "each class takes its own: LBFGS 1, Adagrad and RMSprop 0.01, "
                                           "Lion 0.0001, the others 0.001."};
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
                                        "bf16-true a second value close to 1 cannot fall. Lion weighs its "
                                        "step with the first and its memory with the second.",
                                .classes = "Adam AdamW Lion AdamW8bit Adam8bit Lion8bit"};
inline constexpr Field eps = {.path = "optimizer.init_args.eps",
                              .knob = "module.optimizer.eps",
                              .label = "eps",
                              .type = FieldType::Number,
                              .stage = "optimizer",
                              .fallback = "1.0e-08",
                              .least = 0,
                              .use = FieldUse::Runs,
                              .help = "Keeps a step from dividing by zero. In fp16 the default rounds to "
                                      "zero. Adagrad without a word takes 1e-10.",
                              .classes = "Adam AdamW AdamW8bit Adam8bit Adagrad RMSprop"};
inline constexpr Field weightDecay = {
    .path = "optimizer.init_args.weight_decay",
    .label = "weight_decay",
    .type = FieldType::Number,
    .stage = "optimizer",
    .least = 0,
    .use = FieldUse::Runs,
    .help = "Pulls weights towards zero. Without a word AdamW and AdamW8bit take 0.01, the others 0.",
    .classes = "Adam AdamW SGD Adagrad RMSprop Lion AdamW8bit Adam8bit Lion8bit SGD8bit"};
inline constexpr Field momentum = {.path = "optimizer.init_args.momentum",
                                   .knob = "module.optimizer.momentum",
                                   .label = "momentum",
                                   .type = FieldType::Number,
                                   .stage = "optimizer",
                                   .fallback = "0.0",
                                   .least = 0,
                                   .use = FieldUse::Runs,
                                   .help = "SGD, RMSprop: how much of the last step goes on.",
                                   .classes = "SGD RMSprop SGD8bit",
                                   .whenChosen = "0.9",
                                   .neededBy = "SGD8bit"};
inline constexpr Field dampening = {
    .path = "optimizer.init_args.dampening",
    .label = "dampening",
    .type = FieldType::Number,
    .stage = "optimizer",
    .fallback = "0.0",
    .use = FieldUse::Runs,
    .help = "SGD: takes this share off each new gradient that enters the momentum.",
    .classes = "SGD SGD8bit"};
inline constexpr Field nesterov = {
    .path = "optimizer.init_args.nesterov",
    .label = "nesterov",
    .type = FieldType::Bool,
    .stage = "optimizer",
    .fallback = "false",
    .use = FieldUse::Runs,
    .help = "SGD: looks a step of momentum ahead. Needs momentum, and no dampening.",
    .classes = "SGD SGD8bit"};
inline constexpr Field amsgrad = {.path = "optimizer.init_args.amsgrad",
                                  .label = "amsgrad",
                                  .type = FieldType::Bool,
                                  .stage = "optimizer",
                                  .fallback = "false",
                                  .use = FieldUse::Runs,
                                  .help = "Adam: divides by the largest second moment seen so far.",
                                  .classes = "Adam AdamW AdamW8bit Adam8bit"};
inline constexpr Field maximize = {.path = "optimizer.init_args.maximize",
                                   .label = "maximize",
                                   .type = FieldType::Bool,
                                   .stage = "optimizer",
                                   .fallback = "false",
                                   .use = FieldUse::Runs,
                                   .help = "Climbs instead of descending.",
                                   .classes = "Adam AdamW SGD Adagrad RMSprop"};
inline constexpr Field lrDecay = {.path = "optimizer.init_args.lr_decay",
                                  .label = "lr_decay",
                                  .type = FieldType::Number,
                                  .stage = "optimizer",
                                  .fallback = "0.0",
                                  .least = 0,
                                  .use = FieldUse::Runs,
                                  .help = "Adagrad: the rate is divided by 1 + lr_decay × steps.",
                                  .classes = "Adagrad"};
inline constexpr Field initialAccumulator = {.path = "optimizer.init_args.initial_accumulator_value",
                                             .label = "initial_accumulator_value",
                                             .type = FieldType::Number,
                                             .stage = "optimizer",
                                             .fallback = "0.0",
                                             .least = 0,
                                             .use = FieldUse::Runs,
                                             .help =
                                                 "Adagrad: what the sum of squared gradients begins with.",
                                             .classes = "Adagrad"};
inline constexpr Field alpha = {.path = "optimizer.init_args.alpha",
                                .label = "alpha",
                                .type = FieldType::Number,
                                .stage = "optimizer",
                                .fallback = "0.99",
                                .least = 0,
                                .most = 1,
                                .use = FieldUse::Runs,
                                .help = "RMSprop: how long the mean of squared gradients remembers.",
                                .classes = "RMSprop"};
inline constexpr Field centered = {
    .path = "optimizer.init_args.centered",
    .label = "centered",
    .type = FieldType::Bool,
    .stage = "optimizer",
    .fallback = "false",
    .use = FieldUse::Runs,
    .help = "RMSprop: divides by the standard deviation of the gradients instead of their mean square.",
    .classes = "RMSprop"};
inline constexpr Field decoupledWeightDecay = {
    .path = "optimizer.init_args.decoupled_weight_decay",
    .label = "decoupled_weight_decay",
    .type = FieldType::Bool,
    .stage = "optimizer",
    .fallback = "false",
    .use = FieldUse::Runs,
    .help = "Adam: weight decay shrinks the weights and stays out of the moments, as in AdamW.",
    .classes = "Adam"};

} // namespace mantissa::field
