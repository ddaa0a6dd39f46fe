#pragma once

#include "engine/recipe/field.h"

#include <array>

// Arguments of other strategies, and of precision plugins.
namespace mantissa::field {

inline constexpr Field ddpFindUnused = {
    .path = "trainer.strategy.init_args.find_unused_parameters",
    .knob = "strategy.ddp.find_unused_parameters",
    .label = "find_unused_parameters",
    .type = FieldType::Bool,
    .stage = "backward",
    .fallback = "false",
    .use = FieldUse::Runs,
    .help = "Looks in every step for parameters that got no gradient on any rank, and leaves them alone. "
            "Without it such a parameter is an error."};
inline constexpr Field ddpStaticGraph = {.path = "trainer.strategy.init_args.static_graph",
                                         .knob = "strategy.ddp.static_graph",
                                         .label = "static_graph",
                                         .type = FieldType::Bool,
                                         .stage = "backward",
                                         .fallback = "false",
                                         .use = FieldUse::Runs,
                                         .help = "Promises that every step uses the same parameters: looked "
                                                 "at in the first step only, and held against later ones."};
inline constexpr Field ddpBucketCap = {.path = "trainer.strategy.init_args.bucket_cap_mb",
                                       .label = "bucket_cap_mb",
                                       .type = FieldType::Number,
                                       .stage = "reduce",
                                       .fallback = "25",
                                       .least = 0.0001,
                                       .most = 65536,
                                       .unit = "MiB",
                                       .use = FieldUse::Runs,
                                       .help = "Gradients are reduced in buckets of this size while backward "
                                               "goes on. The first holds at most 1 MiB."};
inline constexpr Field ddpGradientViews = {
    .path = "trainer.strategy.init_args.gradient_as_bucket_view",
    .label = "gradient_as_bucket_view",
    .type = FieldType::Bool,
    .stage = "reduce",
    .use = FieldUse::Runs,
    .help =
        "Gradients live in the buckets and are not copied. PyTorch takes false; here they do unless false is "
        "written, since the numbers are the same."};
inline constexpr Field ddpBroadcastBuffers = {.path = "trainer.strategy.init_args.broadcast_buffers",
                                              .label = "broadcast_buffers",
                                              .type = FieldType::Bool,
                                              .stage = "forward",
                                              .fallback = "true",
                                              .use = FieldUse::Runs,
                                              .help = "Running statistics of rank 0 go to all ranks before a "
                                                      "forward pass. false: each rank keeps its own."};
inline constexpr Field ddpCommHook = {
    .path = "trainer.strategy.init_args.ddp_comm_hook",
    .knob = "strategy.ddp.ddp_comm_hook",
    .label = "ddp_comm_hook",
    .type = FieldType::Any,
    .stage = "reduce",
    .help = "Changes gradients on their way between ranks, for example by compressing them."};
inline constexpr std::array<std::string_view, 4> kDdpStartMethodChoices = {"popen", "spawn", "fork",
                                                                           "forkserver"};
inline constexpr Field ddpStartMethod = {.path = "trainer.strategy.init_args.start_method",
                                         .knob = "strategy.ddp.start_method",
                                         .label = "start_method",
                                         .type = FieldType::Choice,
                                         .stage = "setup",
                                         .fallback = "popen",
                                         .choices = kDdpStartMethodChoices,
                                         .help = "How the processes of the ranks come to life."};
inline constexpr Field ddpModelAveraging = {.path = "trainer.strategy.init_args.model_averaging_period",
                                            .knob = "strategy.ddp.model_averaging_period",
                                            .label = "model_averaging_period",
                                            .type = FieldType::Integer,
                                            .stage = "reduce",
                                            .least = 1,
                                            .help = "Averages the weights of the ranks every n steps."};
inline constexpr Field deepspeedStage = {
    .path = "trainer.strategy.init_args.stage",
    .knob = "strategy.deepspeed.stage",
    .label = "stage",
    .type = FieldType::Integer,
    .stage = "forward",
    .fallback = "2",
    .least = 0,
    .most = 3,
    .help = "What DeepSpeed splits: 1 the optimizer state, 2 gradients too, 3 weights too."};
inline constexpr Field deepspeedOffloadOptimizer = {.path = "trainer.strategy.init_args.offload_optimizer",
                                                    .knob = "strategy.deepspeed.offload_optimizer",
                                                    .label = "offload_optimizer",
                                                    .type = FieldType::Bool,
                                                    .stage = "optimizer",
                                                    .fallback = "false",
                                                    .help = "Keeps the optimizer state in main memory."};
inline constexpr Field deepspeedConfig = {
    .path = "trainer.strategy.init_args.config",
    .label = "config",
    .type = FieldType::Any,
    .stage = "configure",
    .help = "A DeepSpeed configuration, or its file. It replaces the arguments."};
inline constexpr Field modelParallelData = {.path = "trainer.strategy.init_args.data_parallel_size",
                                            .knob = "strategy.model_parallel.data_parallel_size",
                                            .label = "data_parallel_size",
                                            .type = FieldType::Any,
                                            .stage = "setup",
                                            .fallback = "auto",
                                            .use = FieldUse::Runs,
                                            .help = "Ranks over which the batch and the weights are split. "
                                                    "auto: the number of nodes. This engine: all ranks."};
inline constexpr Field modelParallelTensor = {
    .path = "trainer.strategy.init_args.tensor_parallel_size",
    .knob = "strategy.model_parallel.tensor_parallel_size",
    .label = "tensor_parallel_size",
    .type = FieldType::Any,
    .stage = "setup",
    .fallback = "auto",
    .use = FieldUse::Runs,
    .help =
        "Ranks over which layers are split. auto: the devices of a node. This engine splits no layer: 1."};
inline constexpr Field singleDevice = {.path = "trainer.strategy.init_args.device",
                                       .knob = "strategy.single_device.device",
                                       .label = "device",
                                       .type = FieldType::Text,
                                       .stage = "setup",
                                       .fallback = "cpu",
                                       .help = "The one device that a single-device strategy uses."};
inline constexpr Field strategyAccelerator = {.path = "trainer.strategy.init_args.accelerator",
                                              .knob = "strategy.accelerator",
                                              .label = "accelerator",
                                              .type = FieldType::Any,
                                              .stage = "configure",
                                              .help =
                                                  "An accelerator object that the strategy brings with it."};
inline constexpr Field strategyPrecisionPlugin = {.path = "trainer.strategy.init_args.precision_plugin",
                                                  .knob = "strategy.precision_plugin",
                                                  .label = "precision_plugin",
                                                  .type = FieldType::Any,
                                                  .stage = "forward",
                                                  .help =
                                                      "A precision object that the strategy brings with it."};
inline constexpr Field strategyCheckpointIo = {.path = "trainer.strategy.init_args.checkpoint_io",
                                               .knob = "strategy.checkpoint_io",
                                               .label = "checkpoint_io",
                                               .type = FieldType::Any,
                                               .stage = "record",
                                               .help =
                                                   "A checkpoint writer that the strategy brings with it."};
inline constexpr Field strategyClusterEnvironment = {
    .path = "trainer.strategy.init_args.cluster_environment",
    .knob = "strategy.cluster_environment",
    .label = "cluster_environment",
    .type = FieldType::Any,
    .stage = "setup",
    .help = "A cluster environment that the strategy brings with it."};
inline constexpr Field strategyParallelDevices = {.path = "trainer.strategy.init_args.parallel_devices",
                                                  .knob = "strategy.parallel_devices",
                                                  .label = "parallel_devices",
                                                  .type = FieldType::Any,
                                                  .stage = "setup",
                                                  .help = "The devices that the strategy is told to use."};
inline constexpr std::array<std::string_view, 3> kStrategyBackendChoices = {"nccl", "gloo", "mpi"};
inline constexpr Field strategyBackend = {.path = "trainer.strategy.init_args.process_group_backend",
                                          .knob = "strategy.process_group_backend",
                                          .label = "process_group_backend",
                                          .type = FieldType::Choice,
                                          .stage = "setup",
                                          .choices = kStrategyBackendChoices,
                                          .help = "The library that carries data between ranks. Chosen by "
                                                  "the device where nothing is said. What carries it "
                                                  "here says mantissa.communicator."};
inline constexpr Field fsdpScaler = {.path = "trainer.plugins[FSDPPrecision].scaler",
                                     .label = "scaler of FSDPPrecision",
                                     .type = FieldType::Any,
                                     .stage = "configure",
                                     .help = "A loss scaler object given to the precision of FSDP."};
inline constexpr Field ampScaler = {
    .path = "trainer.plugins[MixedPrecision].scaler",
    .label = "scaler of MixedPrecision",
    .type = FieldType::Any,
    .stage = "scale",
    .use = FieldUse::Runs,
    .help = "A loss scaler object given to mixed precision; its arguments replace the defaults."};

} // namespace mantissa::field
