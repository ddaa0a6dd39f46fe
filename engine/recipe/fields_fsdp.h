#pragma once

#include "engine/recipe/field.h"

#include <array>

// Arguments of FSDP.
namespace mantissa::field {

inline constexpr std::array<std::string_view, 5> kFsdpShardingStrategyChoices = {
    "FULL_SHARD", "SHARD_GRAD_OP", "NO_SHARD", "HYBRID_SHARD", "_HYBRID_SHARD_ZERO2"};
inline constexpr Field fsdpShardingStrategy = {
    .path = "trainer.strategy.init_args.sharding_strategy",
    .knob = "strategy.fsdp.sharding_strategy",
    .label = "sharding_strategy",
    .type = FieldType::Choice,
    .stage = "forward",
    .fallback = "FULL_SHARD",
    .choices = kFsdpShardingStrategyChoices,
    .use = FieldUse::Runs,
    .help = "What FSDP splits over the ranks. FULL_SHARD splits weights, gradients and optimizer state and "
            "gathers "
            "weights twice a step; SHARD_GRAD_OP keeps them from forward to backward; NO_SHARD splits "
            "nothing; HYBRID_SHARD "
            "splits within groups of ranks."};
inline constexpr std::array<std::string_view, 2> kFsdpStateDictTypeChoices = {"full", "sharded"};
inline constexpr Field fsdpStateDictType = {.path = "trainer.strategy.init_args.state_dict_type",
                                            .knob = "strategy.fsdp.state_dict_type",
                                            .label = "state_dict_type",
                                            .type = FieldType::Choice,
                                            .stage = "record",
                                            .fallback = "full",
                                            .choices = kFsdpStateDictTypeChoices,
                                            .use = FieldUse::Runs,
                                            .help = "Checkpoints as one file, or as one part for each rank. "
                                                    "The Trainer takes full by default, Fabric sharded."};
inline constexpr Field fsdpCpuOffload = {.path = "trainer.strategy.init_args.cpu_offload",
                                         .knob = "strategy.fsdp.cpu_offload",
                                         .label = "cpu_offload",
                                         .type = FieldType::Any,
                                         .stage = "optimizer",
                                         .fallback = "false",
                                         .use = FieldUse::Runs,
                                         .help = "Keeps shards, their gradients and the optimizer state in "
                                                 "main memory. This engine computes on the CPU, so that is "
                                                 "where they are with or without it."};
inline constexpr Field fsdpUseOrigParams = {
    .path = "trainer.strategy.init_args.use_orig_params",
    .knob = "strategy.fsdp.use_orig_params",
    .label = "use_orig_params",
    .type = FieldType::Bool,
    .stage = "optimizer",
    .fallback = "true",
    .help =
        "Lets the optimizer see the parameters under their own names instead of one flat one for each unit."};
inline constexpr Field fsdpAutoWrapPolicy = {
    .path = "trainer.strategy.init_args.auto_wrap_policy",
    .knob = "strategy.fsdp.auto_wrap_policy",
    .label = "auto_wrap_policy",
    .type = FieldType::Any,
    .stage = "setup",
    .use = FieldUse::Runs,
    .help = "Which layers become units of their own. This engine makes a unit of each block of its models, "
            "unless "
            "size_based_auto_wrap_policy or mantissa.sharding.wrap says otherwise."};
inline constexpr Field fsdpMixedPrecision = {
    .path = "trainer.strategy.init_args.mixed_precision",
    .knob = "strategy.fsdp.mixed_precision",
    .label = "mixed_precision",
    .type = FieldType::Any,
    .stage = "forward",
    .use = FieldUse::Runs,
    .help =
        "Number formats that FSDP uses instead of those of the precision. One name stands for all three."};
inline constexpr std::array<std::string_view, 3> kFsdpParamDtypeChoices = {"torch.float32", "torch.float16",
                                                                           "torch.bfloat16"};
inline constexpr Field fsdpParamDtype = {
    .path = "trainer.strategy.init_args.mixed_precision.init_args.param_dtype",
    .label = "param_dtype",
    .type = FieldType::Choice,
    .stage = "forward",
    .choices = kFsdpParamDtypeChoices,
    .use = FieldUse::Runs,
    .help = "Format of gathered weights and of the computation."};
inline constexpr std::array<std::string_view, 3> kFsdpReduceDtypeChoices = {"torch.float32", "torch.float16",
                                                                            "torch.bfloat16"};
inline constexpr Field fsdpReduceDtype = {
    .path = "trainer.strategy.init_args.mixed_precision.init_args.reduce_dtype",
    .label = "reduce_dtype",
    .type = FieldType::Choice,
    .stage = "reduce",
    .choices = kFsdpReduceDtypeChoices,
    .use = FieldUse::Runs,
    .help = "Format in which gradients travel between ranks."};
inline constexpr Field fsdpActivationCheckpointing = {
    .path = "trainer.strategy.init_args.activation_checkpointing",
    .knob = "strategy.fsdp.activation_checkpointing",
    .label = "activation_checkpointing",
    .type = FieldType::Any,
    .stage = "forward",
    .use = FieldUse::Runs,
    .help = "Layers whose activations are computed again in the backward pass instead of being kept. The "
            "older name. Here: every block of the model."};
inline constexpr Field fsdpActivationCheckpointingPolicy = {
    .path = "trainer.strategy.init_args.activation_checkpointing_policy",
    .knob = "strategy.fsdp.activation_checkpointing_policy",
    .label = "activation_checkpointing_policy",
    .type = FieldType::Any,
    .stage = "forward",
    .use = FieldUse::Runs,
    .help = "Layers whose activations are computed again in the backward pass instead of being kept. Here: "
            "every block of the model."};
inline constexpr Field fsdpDeviceMesh = {
    .path = "trainer.strategy.init_args.device_mesh",
    .knob = "strategy.fsdp.device_mesh",
    .label = "device_mesh",
    .type = FieldType::List,
    .stage = "setup",
    .use = FieldUse::Runs,
    .help = "Ranks as a grid of replicas times shards, for HYBRID_SHARD: [2, 2]."};
inline constexpr Field fsdpProcessGroup = {.path = "trainer.strategy.init_args.process_group",
                                           .knob = "strategy.fsdp.process_group",
                                           .label = "process_group",
                                           .type = FieldType::Any,
                                           .stage = "setup",
                                           .help = "The ranks that share the shards."};
inline constexpr std::array<std::string_view, 2> kFsdpBackwardPrefetchChoices = {"BACKWARD_PRE",
                                                                                 "BACKWARD_POST"};
inline constexpr Field fsdpBackwardPrefetch = {.path = "trainer.strategy.init_args.backward_prefetch",
                                               .label = "backward_prefetch",
                                               .type = FieldType::Choice,
                                               .stage = "backward",
                                               .choices = kFsdpBackwardPrefetchChoices,
                                               .use = FieldUse::Runs,
                                               .help =
                                                   "Gathers the next unit before (PRE) or right after (POST) "
                                                   "the gradients of the present one. PyTorch takes PRE. "
                                                   "Gathers of rank threads end before they return, so here "
                                                   "it costs the memory of a unit and saves no time: "
                                                   "without a word this engine fetches nothing ahead."};
inline constexpr Field fsdpForwardPrefetch = {
    .path = "trainer.strategy.init_args.forward_prefetch",
    .label = "forward_prefetch",
    .type = FieldType::Bool,
    .stage = "forward",
    .fallback = "false",
    .use = FieldUse::Runs,
    .help = "Gathers the next unit of the forward pass before the present one computes."};
inline constexpr Field fsdpLimitAllGathers = {
    .path = "trainer.strategy.init_args.limit_all_gathers",
    .label = "limit_all_gathers",
    .type = FieldType::Bool,
    .stage = "forward",
    .fallback = "true",
    .use = FieldUse::Runs,
    .help =
        "Lets a prefetch be one unit ahead and no more. false: all units that follow are gathered at once."};

} // namespace mantissa::field
