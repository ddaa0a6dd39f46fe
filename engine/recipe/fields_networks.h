#pragma once

#include "engine/recipe/field.h"

#include <array>

// More about models: options of the transformer, residual networks, files.
namespace mantissa::field {

inline constexpr Field modelChannels = {.path = "model.init_args.channels",
                                        .label = "channels",
                                        .type = FieldType::Integer,
                                        .stage = "forward",
                                        .least = 1,
                                        .use = FieldUse::Runs,
                                        .help = "Channels of an image: 3 by default for a ResNet, else 1.",
                                        .classes = "ConvNet ResNet TorchScript"};
inline constexpr Field modelBlocks = {.path = "model.init_args.blocks",
                                      .label = "blocks",
                                      .type = FieldType::Integer,
                                      .stage = "forward",
                                      .fallback = "2",
                                      .least = 1,
                                      .use = FieldUse::Runs,
                                      .help =
                                          "ResNet: blocks in each of the four stages; 2 make a ResNet-18.",
                                      .classes = "ResNet"};
inline constexpr std::array<std::string_view, 2> kModelPositionsChoices = {"learned", "rotary"};
inline constexpr Field modelPositions = {
    .path = "model.init_args.positions",
    .label = "positions",
    .type = FieldType::Choice,
    .stage = "forward",
    .fallback = "learned",
    .choices = kModelPositionsChoices,
    .use = FieldUse::Runs,
    .help = "Transformer: an embedding of each place, or rotation of queries and keys.",
    .classes = "Transformer"};
inline constexpr std::array<std::string_view, 3> kModelActivationChoices = {"gelu", "gelu_tanh", "swiglu"};
inline constexpr Field modelActivation = {
    .path = "model.init_args.activation",
    .label = "activation",
    .type = FieldType::Choice,
    .stage = "forward",
    .fallback = "gelu",
    .choices = kModelActivationChoices,
    .use = FieldUse::Runs,
    .help =
        "Transformer: what is between the two layers of a block; gelu_tanh is what GPT-2 was trained with.",
    .classes = "Transformer"};
inline constexpr std::array<std::string_view, 2> kModelNormChoices = {"layer", "rms"};
inline constexpr Field modelNorm = {.path = "model.init_args.norm",
                                    .label = "norm",
                                    .type = FieldType::Choice,
                                    .stage = "forward",
                                    .fallback = "layer",
                                    .choices = kModelNormChoices,
                                    .use = FieldUse::Runs,
                                    .help = "Transformer: mean and deviation, or the root mean square alone.",
                                    .classes = "Transformer"};
inline constexpr std::array<std::string_view, 2> kModelInitChoices = {"torch", "gpt2"};
inline constexpr Field modelInit = {
    .path = "model.init_args.init",
    .label = "init",
    .type = FieldType::Choice,
    .stage = "forward",
    .fallback = "torch",
    .choices = kModelInitChoices,
    .use = FieldUse::Runs,
    .help = "Transformer: how first weights are drawn, as PyTorch layers or as GPT-2.",
    .classes = "Transformer"};
inline constexpr Field modelWeights = {.path = "model.init_args.weights",
                                       .label = "weights",
                                       .type = FieldType::Text,
                                       .stage = "forward",
                                       .use = FieldUse::Runs,
                                       .help = "A safetensors file with the first weights, under our names "
                                               "or those of a public GPT-2; nothing: drawn from the seed.",
                                       .classes = "MLP ConvNet ResNet Transformer GAN"};
inline constexpr Field modelFile = {.path = "model.init_args.file",
                                    .label = "file",
                                    .type = FieldType::Text,
                                    .stage = "forward",
                                    .use = FieldUse::Runs,
                                    .help = "TorchScript: the file that torch.jit.save wrote.",
                                    .classes = "TorchScript"};
inline constexpr std::array<std::string_view, 3> kModelInputKindChoices = {"vectors", "images", "tokens"};
inline constexpr Field modelInputKind = {.path = "model.init_args.input",
                                         .label = "input",
                                         .type = FieldType::Choice,
                                         .stage = "forward",
                                         .fallback = "vectors",
                                         .choices = kModelInputKindChoices,
                                         .use = FieldUse::Runs,
                                         .help = "TorchScript: what the network takes.",
                                         .classes = "TorchScript"};

} // namespace mantissa::field
