#pragma once

#include "engine/recipe/field.h"

#include <array>

// How weights are split and kept here, where Lightning has no key for it or says it in the module's code.
namespace mantissa::field {

inline constexpr std::array<std::string_view, 3> kShardDtypeChoices = {"torch.float32", "torch.float16",
                                                                       "torch.bfloat16"};
inline constexpr Field shardParamDtype = {.path = "mantissa.sharding.param_dtype",
                                          .label = "param_dtype",
                                          .type = FieldType::Choice,
                                          .stage = "forward",
                                          .choices = kShardDtypeChoices,
                                          .use = FieldUse::Runs,
                                          .help = "ModelParallelStrategy: MixedPrecisionPolicy(param_dtype) "
                                                  "of fully_shard, which a module says in its code."};
inline constexpr Field shardReduceDtype = {
    .path = "mantissa.sharding.reduce_dtype",
    .label = "reduce_dtype",
    .type = FieldType::Choice,
    .stage = "reduce",
    .choices = kShardDtypeChoices,
    .use = FieldUse::Runs,
    .help = "ModelParallelStrategy: format in which gradients travel. By default param_dtype."};
inline constexpr Field shardOutputDtype = {
    .path = "mantissa.sharding.output_dtype",
    .label = "output_dtype",
    .type = FieldType::Choice,
    .stage = "forward",
    .choices = kShardDtypeChoices,
    .use = FieldUse::Runs,
    .help = "ModelParallelStrategy: format of what the model returns. By default as computed."};
inline constexpr Field shardCastInputs = {.path = "mantissa.sharding.cast_forward_inputs",
                                          .label = "cast_forward_inputs",
                                          .type = FieldType::Bool,
                                          .stage = "convert_input",
                                          .fallback = "true",
                                          .use = FieldUse::Runs,
                                          .help =
                                              "ModelParallelStrategy: inputs are converted to param_dtype."};
inline constexpr Field shardReshard = {
    .path = "mantissa.sharding.reshard_after_forward",
    .label = "reshard_after_forward",
    .type = FieldType::Bool,
    .stage = "forward",
    .fallback = "true",
    .use = FieldUse::Runs,
    .help = "ModelParallelStrategy: units are given back after forward and gathered again for backward."};
inline constexpr Field shardMesh = {.path = "mantissa.sharding.mesh",
                                    .label = "mesh",
                                    .type = FieldType::List,
                                    .stage = "setup",
                                    .use = FieldUse::Runs,
                                    .help = "ModelParallelStrategy: ranks as a grid of replicas times "
                                            "shards, [2, 2]. By default one group of all ranks."};
inline constexpr std::array<std::string_view, 3> kShardWrapChoices = {"block", "size", "whole"};
inline constexpr Field shardWrap = {.path = "mantissa.sharding.wrap",
                                    .label = "wrap",
                                    .type = FieldType::Choice,
                                    .stage = "setup",
                                    .fallback = "block",
                                    .choices = kShardWrapChoices,
                                    .use = FieldUse::Runs,
                                    .help = "What is gathered at once: each block of the model, each block "
                                            "with at least min_num_params elements and "
                                            "the rest together, or the whole model."};
inline constexpr Field shardLeastUnit = {
    .path = "mantissa.sharding.min_num_params",
    .label = "min_num_params",
    .type = FieldType::Integer,
    .stage = "setup",
    .fallback = "100000000",
    .least = 1,
    .use = FieldUse::Runs,
    .help = "wrap: size: a block with fewer elements shares the root's unit."};
inline constexpr Field frozen = {
    .path = "mantissa.frozen",
    .label = "frozen",
    .type = FieldType::List,
    .stage = "optimizer",
    .use = FieldUse::Runs,
    .help = "Beginnings of names of weights that are not trained: [fc1., blocks.0.]."};
inline constexpr Field recompute = {
    .path = "mantissa.activation_checkpointing",
    .label = "activation_checkpointing",
    .type = FieldType::Bool,
    .stage = "forward",
    .fallback = "false",
    .use = FieldUse::Runs,
    .help =
        "Runs each block's forward pass again in backward instead of keeping its activations, with the same "
        "random numbers and the same bits. Whatever the strategy."};
inline constexpr std::array<std::string_view, 2> kCommunicatorChoices = {"threads", "nccl"};
inline constexpr Field communicator = {.path = "mantissa.communicator",
                                       .label = "communicator",
                                       .type = FieldType::Choice,
                                       .stage = "setup",
                                       .fallback = "threads",
                                       .choices = kCommunicatorChoices,
                                       .use = FieldUse::Runs,
                                       .help = "What carries data between ranks: this engine's own for rank "
                                               "threads, or NCCL with a GPU for each rank."};

} // namespace mantissa::field
