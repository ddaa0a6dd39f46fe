#pragma once

#include "engine/recipe/field.h"

#include <array>

// Flags of the Trainer: on what, in which precision, for how long.
namespace mantissa::field {

inline constexpr Field seed = {.path = "seed_everything",
                               .knob = "seed",
                               .label = "seed",
                               .type = FieldType::Integer,
                               .stage = "configure",
                               .fallback = "0",
                               .least = 0,
                               .most = 4294967295.0,
                               .use = FieldUse::Runs,
                               .help = "Seeds weights, order of samples and dropout. The same seed on the "
                                       "same ranks and threads gives the same bits."};
inline constexpr std::array<std::string_view, 9> kPrecisionChoices = {"32-true",
                                                                      "16-true",
                                                                      "bf16-true",
                                                                      "16-mixed",
                                                                      "bf16-mixed",
                                                                      "64-true",
                                                                      "fp8-mixed",
                                                                      "transformer-engine",
                                                                      "transformer-engine-float16"};
inline constexpr Field precision = {
    .path = "trainer.precision",
    .knob = "precision",
    .label = "precision",
    .type = FieldType::Choice,
    .stage = "forward",
    .fallback = "32-true",
    .choices = kPrecisionChoices,
    .use = FieldUse::Runs,
    .help = "Number format of weights and of the computation. In the mixed ones weights stay in fp32 and "
            "16-mixed adds a loss scale; in the true ones weights are 16-bit too. fp8-mixed is this engine's "
            "own and emulated: bf16-mixed whose linear layers round to 8 bits what they multiply."};
inline constexpr std::array<std::string_view, 13> kStrategyChoices = {"auto",
                                                                      "single_device",
                                                                      "ddp",
                                                                      "fsdp",
                                                                      "fsdp_cpu_offload",
                                                                      "ddp_spawn",
                                                                      "ddp_fork",
                                                                      "deepspeed_stage_1",
                                                                      "deepspeed_stage_2",
                                                                      "deepspeed_stage_3",
                                                                      "deepspeed_stage_3_offload",
                                                                      "fsdp2",
                                                                      "zero1"};
inline constexpr Field strategy = {
    .path = "trainer.strategy",
    .knob = "strategy",
    .label = "strategy",
    .type = FieldType::Any,
    .stage = "forward",
    .fallback = "auto",
    .choices = kStrategyChoices,
    .use = FieldUse::Runs,
    .help = "How ranks share the work: ddp keeps a whole copy on each and "
            "averages gradients, fsdp keeps a slice of everything on each. zero1 is this engine's own: whole "
            "weights on each, the optimizer's state split."};
inline constexpr std::array<std::string_view, 6> kAcceleratorChoices = {"auto", "cpu", "gpu",
                                                                        "cuda", "mps", "tpu"};
inline constexpr Field accelerator = {
    .path = "trainer.accelerator",
    .knob = "accelerator",
    .label = "accelerator",
    .type = FieldType::Choice,
    .stage = "configure",
    .fallback = "auto",
    .choices = kAcceleratorChoices,
    .use = FieldUse::Runs,
    .help =
        "The kind of device that the set-up is meant for. This engine trains on the CPU whatever it says."};
inline constexpr Field devices = {.path = "trainer.devices",
                                  .knob = "devices",
                                  .label = "devices",
                                  .type = FieldType::Any,
                                  .stage = "configure",
                                  .fallback = "auto",
                                  .use = FieldUse::Runs,
                                  .help = "How many devices on each node. An integer is also the number of "
                                          "ranks here, unless mantissa.ranks says otherwise."};
inline constexpr Field numNodes = {
    .path = "trainer.num_nodes",
    .knob = "num_nodes",
    .label = "num_nodes",
    .type = FieldType::Integer,
    .stage = "configure",
    .fallback = "1",
    .least = 1,
    .help = "How many machines take part. Ranks of the target are devices times nodes."};
inline constexpr Field maxEpochs = {.path = "trainer.max_epochs",
                                    .knob = "max_epochs",
                                    .label = "max_epochs",
                                    .type = FieldType::Integer,
                                    .stage = "data",
                                    .fallback = "1000",
                                    .least = -1,
                                    .use = FieldUse::Runs,
                                    .help =
                                        "Training ends after this many passes over the data; -1 has no "
                                        "limit. The default of 1000 counts only where no step limit is set."};
inline constexpr Field maxSteps = {
    .path = "trainer.max_steps",
    .knob = "max_steps",
    .label = "max_steps",
    .type = FieldType::Integer,
    .stage = "optimizer",
    .fallback = "-1",
    .least = -1,
    .use = FieldUse::Runs,
    .help = "Training ends after this many optimizer steps, skipped ones included; -1 has no limit."};
inline constexpr Field minEpochs = {.path = "trainer.min_epochs",
                                    .knob = "min_epochs",
                                    .label = "min_epochs",
                                    .type = FieldType::Integer,
                                    .stage = "data",
                                    .least = 0,
                                    .use = FieldUse::Runs,
                                    .help = "Epochs that are trained even if something asks to stop."};
inline constexpr Field minSteps = {.path = "trainer.min_steps",
                                   .knob = "min_steps",
                                   .label = "min_steps",
                                   .type = FieldType::Integer,
                                   .stage = "optimizer",
                                   .least = 0,
                                   .use = FieldUse::Runs,
                                   .help =
                                       "Optimizer steps that are trained even if something asks to stop."};
inline constexpr Field maxTime = {.path = "trainer.max_time",
                                  .knob = "max_time",
                                  .label = "max_time",
                                  .type = FieldType::Any,
                                  .stage = "configure",
                                  .use = FieldUse::Runs,
                                  .help = "Stops after this wall-clock time, written DD:HH:MM:SS."};
inline constexpr Field fastDevRun = {.path = "trainer.fast_dev_run",
                                     .knob = "fast_dev_run",
                                     .label = "fast_dev_run",
                                     .type = FieldType::Any,
                                     .stage = "configure",
                                     .fallback = "false",
                                     .use = FieldUse::Runs,
                                     .help =
                                         "A trial run of so many batches (true: one) without checkpoints."};
inline constexpr Field limitTrainBatches = {.path = "trainer.limit_train_batches",
                                            .knob = "limit_train_batches",
                                            .label = "limit_train_batches",
                                            .type = FieldType::Any,
                                            .stage = "data",
                                            .fallback = "1.0",
                                            .least = 0,
                                            .use = FieldUse::Runs,
                                            .help =
                                                "Batches in an epoch: an integer counts them, a float is a "
                                                "share of them."};
inline constexpr Field limitValBatches = {
    .path = "trainer.limit_val_batches",
    .knob = "limit_val_batches",
    .label = "limit_val_batches",
    .type = FieldType::Any,
    .stage = "data",
    .fallback = "1.0",
    .least = 0,
    .use = FieldUse::Runs,
    .help = "Validation batches: an integer counts them, a float is a share."};
inline constexpr Field limitTestBatches = {.path = "trainer.limit_test_batches",
                                           .knob = "limit_test_batches",
                                           .label = "limit_test_batches",
                                           .type = FieldType::Any,
                                           .stage = "data",
                                           .fallback = "1.0",
                                           .least = 0,
                                           .help =
                                               "Test batches: an integer counts them, a float is a share."};
inline constexpr Field limitPredictBatches = {
    .path = "trainer.limit_predict_batches",
    .knob = "limit_predict_batches",
    .label = "limit_predict_batches",
    .type = FieldType::Any,
    .stage = "data",
    .fallback = "1.0",
    .least = 0,
    .help = "Prediction batches: an integer counts them, a float is a share."};

} // namespace mantissa::field
