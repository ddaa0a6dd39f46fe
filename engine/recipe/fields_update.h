#pragma once

#include "engine/recipe/field.h"

#include <array>

// More of the optimizer: LBFGS, 8-bit states, groups of parameters.
namespace mantissa::field {

inline constexpr Field lbfgsMaxIter = {.path = "optimizer.init_args.max_iter",
                                       .label = "max_iter",
                                       .type = FieldType::Integer,
                                       .stage = "optimizer",
                                       .fallback = "20",
                                       .least = 1,
                                       .most = 1000000,
                                       .use = FieldUse::Runs,
                                       .help = "LBFGS: most iterations within one step.",
                                       .classes = "LBFGS"};
inline constexpr Field lbfgsMaxEval = {
    .path = "optimizer.init_args.max_eval",
    .label = "max_eval",
    .type = FieldType::Integer,
    .stage = "optimizer",
    .least = 1,
    .most = 1000000,
    .use = FieldUse::Runs,
    .help = "LBFGS: most evaluations of the loss within one step; 5/4 of max_iter where nothing is said.",
    .classes = "LBFGS"};
inline constexpr Field lbfgsToleranceGrad = {
    .path = "optimizer.init_args.tolerance_grad",
    .label = "tolerance_grad",
    .type = FieldType::Number,
    .stage = "optimizer",
    .fallback = "1.0e-07",
    .least = 0,
    .use = FieldUse::Runs,
    .help = "LBFGS: stops iterating where no element of the gradient is larger.",
    .classes = "LBFGS"};
inline constexpr Field lbfgsToleranceChange = {.path = "optimizer.init_args.tolerance_change",
                                               .label = "tolerance_change",
                                               .type = FieldType::Number,
                                               .stage = "optimizer",
                                               .fallback = "1.0e-09",
                                               .least = 0,
                                               .use = FieldUse::Runs,
                                               .help =
                                                   "LBFGS: stops iterating where weights or loss move less.",
                                               .classes = "LBFGS"};
inline constexpr Field lbfgsHistorySize = {
    .path = "optimizer.init_args.history_size",
    .label = "history_size",
    .type = FieldType::Integer,
    .stage = "optimizer",
    .fallback = "100",
    .least = 1,
    .most = 1000000,
    .use = FieldUse::Runs,
    .help = "LBFGS: how many past updates it keeps, each as large as the model, twice.",
    .classes = "LBFGS"};
inline constexpr std::array<std::string_view, 1> kLineSearchChoices = {"strong_wolfe"};
inline constexpr Field lbfgsLineSearch = {
    .path = "optimizer.init_args.line_search_fn",
    .label = "line_search_fn",
    .type = FieldType::Choice,
    .stage = "optimizer",
    .choices = kLineSearchChoices,
    .use = FieldUse::Runs,
    .help = "LBFGS: looks for a step length that lowers the loss enough. Nothing: the rate is the length.",
    .classes = "LBFGS"};
inline constexpr Field min8bitSize = {
    .path = "optimizer.init_args.min_8bit_size",
    .label = "min_8bit_size",
    .type = FieldType::Integer,
    .stage = "optimizer",
    .fallback = "4096",
    .least = 0,
    .use = FieldUse::Runs,
    .help = "8-bit optimizers: tensors with fewer elements keep states in fp32. Counted on each rank.",
    .classes = "AdamW8bit Adam8bit Lion8bit SGD8bit"};
inline constexpr std::array<std::string_view, 2> kQuantizerChoices = {"nearest", "bnb-cpu"};
inline constexpr Field quantizer = {
    .path = "mantissa.quantizer",
    .label = "rounding of 8-bit states",
    .type = FieldType::Choice,
    .stage = "optimizer",
    .fallback = "nearest",
    .choices = kQuantizerChoices,
    .use = FieldUse::Runs,
    .help =
        "nearest: to the nearest of 256 entries, zero stays zero. bnb-cpu: as bitsandbytes does it on the "
        "CPU, where everything below 1.5e-5 of a block's largest value, zero too, becomes about 2e-5."};
inline constexpr std::array<std::string_view, 2> kDecayedChoices = {"all", "matrices"};
inline constexpr Field decayed = {
    .path = "mantissa.weight_decay_on",
    .label = "weight decay on",
    .type = FieldType::Choice,
    .stage = "optimizer",
    .fallback = "all",
    .choices = kDecayedChoices,
    .use = FieldUse::Runs,
    .help = "all: every parameter, as an optimizer over model.parameters() has it. matrices: not norms and "
            "biases, nor anything else of one dimension."};
inline constexpr Field parameterGroups = {
    .path = "mantissa.parameter_groups",
    .label = "parameter groups",
    .type = FieldType::List,
    .stage = "optimizer",
    .fallback = "[]",
    .use = FieldUse::Runs,
    .help = "A list of {params: pattern, lr: rate, weight_decay: decay}: parameters whose name fits the "
            "pattern (* is anything) take these instead. A schedule moves all rates in proportion."};
inline constexpr Field capturable = {.path = "optimizer.init_args.capturable",
                                     .label = "capturable",
                                     .type = FieldType::Bool,
                                     .stage = "optimizer",
                                     .fallback = "false",
                                     .help = "The step can be recorded in a CUDA graph.",
                                     .classes = "Adam AdamW RMSprop"};
inline constexpr Field differentiable = {.path = "optimizer.init_args.differentiable",
                                         .label = "differentiable",
                                         .type = FieldType::Bool,
                                         .stage = "optimizer",
                                         .fallback = "false",
                                         .help = "Gradients flow through the step itself.",
                                         .classes = "Adam AdamW SGD Adagrad RMSprop"};
inline constexpr Field pagedStates = {.path = "optimizer.init_args.is_paged",
                                      .label = "is_paged",
                                      .type = FieldType::Bool,
                                      .stage = "optimizer",
                                      .fallback = "false",
                                      .help = "bitsandbytes: states may move to main memory, page by page.",
                                      .classes = "AdamW8bit Adam8bit Lion8bit"};
inline constexpr Field optimizerBits = {.path = "optimizer.init_args.optim_bits",
                                        .label = "optim_bits",
                                        .type = FieldType::Integer,
                                        .stage = "optimizer",
                                        .fallback = "32",
                                        .help = "bitsandbytes: its 8-bit classes take the default alone.",
                                        .classes = "AdamW8bit Adam8bit"};

} // namespace mantissa::field
