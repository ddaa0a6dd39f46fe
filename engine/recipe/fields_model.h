#pragma once

#include "engine/recipe/field.h"

#include <array>

// Models of this engine.
namespace mantissa::field {

inline constexpr std::array<std::string_view, 6> kModelClassChoices = {
    "mantissa.MLP",         "mantissa.ConvNet",     "mantissa.ResNet",
    "mantissa.Transformer", "mantissa.TorchScript", "mantissa.GAN"};
inline constexpr Field modelClass = {
    .path = "model.class_path",
    .label = "model",
    .type = FieldType::Choice,
    .stage = "forward",
    .choices = kModelClassChoices,
    .use = FieldUse::Runs,
    .help = "The network. Names of other packages stay as they are: they are checked, and not trained here."};
inline constexpr Field modelInputs = {
    .path = "model.init_args.inputs",
    .label = "inputs",
    .type = FieldType::Integer,
    .stage = "forward",
    .fallback = "784",
    .least = 1,
    .use = FieldUse::Runs,
    .help = "MLP, GAN and TorchScript: numbers in a sample, pixels of a side, or tokens in a row.",
    .classes = "MLP GAN TorchScript"};
inline constexpr Field modelHidden = {.path = "model.init_args.hidden",
                                      .label = "hidden",
                                      .type = FieldType::Integer,
                                      .stage = "forward",
                                      .fallback = "256",
                                      .least = 1,
                                      .use = FieldUse::Runs,
                                      .help = "MLP and GAN: width of the hidden layers.",
                                      .classes = "MLP GAN"};
inline constexpr Field modelClasses = {.path = "model.init_args.classes",
                                       .label = "classes",
                                       .type = FieldType::Integer,
                                       .stage = "loss",
                                       .fallback = "10",
                                       .least = 2,
                                       .use = FieldUse::Runs,
                                       .help = "Classes that are told apart.",
                                       .classes = "MLP ConvNet ResNet TorchScript"};
inline constexpr Field modelLayers = {
    .path = "model.init_args.layers",
    .label = "layers",
    .type = FieldType::Integer,
    .stage = "forward",
    .least = 1,
    .use = FieldUse::Runs,
    .help =
        "MLP: linear layers in all, 3 by default; GAN: of each of its two networks. Transformer: blocks, 2 "
        "by default.",
    .classes = "MLP GAN Transformer"};
inline constexpr Field modelChannels1 = {.path = "model.init_args.channels1",
                                         .label = "channels1",
                                         .type = FieldType::Integer,
                                         .stage = "forward",
                                         .fallback = "8",
                                         .least = 1,
                                         .use = FieldUse::Runs,
                                         .help = "ConvNet: channels after the first convolution.",
                                         .classes = "ConvNet"};
inline constexpr Field modelChannels2 = {.path = "model.init_args.channels2",
                                         .label = "channels2",
                                         .type = FieldType::Integer,
                                         .stage = "forward",
                                         .fallback = "16",
                                         .least = 1,
                                         .use = FieldUse::Runs,
                                         .help = "ConvNet: channels after the second convolution.",
                                         .classes = "ConvNet"};
inline constexpr Field modelImageSize = {
    .path = "model.init_args.image_size",
    .label = "image_size",
    .type = FieldType::Integer,
    .stage = "forward",
    .least = 4,
    .use = FieldUse::Runs,
    .help =
        "ConvNet and ResNet: height and width of an image, 28 and 32 by default; a ConvNet halves it twice.",
    .classes = "ConvNet ResNet"};
inline constexpr Field modelBatchNorm = {.path = "model.init_args.batch_norm",
                                         .label = "batch_norm",
                                         .type = FieldType::Bool,
                                         .stage = "forward",
                                         .fallback = "false",
                                         .use = FieldUse::Runs,
                                         .help = "ConvNet: normalises each channel over the batch of a rank.",
                                         .classes = "ConvNet"};
inline constexpr Field modelVocab = {.path = "model.init_args.vocab",
                                     .label = "vocab",
                                     .type = FieldType::Integer,
                                     .stage = "forward",
                                     .fallback = "256",
                                     .least = 2,
                                     .use = FieldUse::Runs,
                                     .help = "Transformer: tokens that are told apart; bytes need 256.",
                                     .classes = "Transformer"};
inline constexpr Field modelContext = {.path = "model.init_args.context",
                                       .label = "context",
                                       .type = FieldType::Integer,
                                       .stage = "forward",
                                       .fallback = "128",
                                       .least = 1,
                                       .use = FieldUse::Runs,
                                       .help = "Transformer: tokens in a row.",
                                       .classes = "Transformer"};
inline constexpr Field modelWidth = {
    .path = "model.init_args.width",
    .label = "width",
    .type = FieldType::Integer,
    .stage = "forward",
    .least = 1,
    .use = FieldUse::Runs,
    .help = "Transformer: numbers that stand for a token, 128 by default; a multiple of heads. ResNet: "
            "channels of the first stage, 64 by default.",
    .classes = "Transformer ResNet"};
inline constexpr Field modelHeads = {.path = "model.init_args.heads",
                                     .label = "heads",
                                     .type = FieldType::Integer,
                                     .stage = "forward",
                                     .fallback = "4",
                                     .least = 1,
                                     .use = FieldUse::Runs,
                                     .help = "Transformer: attention heads in a block.",
                                     .classes = "Transformer"};
inline constexpr Field modelDropout = {.path = "model.init_args.dropout",
                                       .label = "dropout",
                                       .type = FieldType::Number,
                                       .stage = "forward",
                                       .fallback = "0.0",
                                       .least = 0,
                                       .most = 0.999,
                                       .use = FieldUse::Runs,
                                       .help = "Transformer: share of activations set to zero in training.",
                                       .classes = "Transformer"};
inline constexpr Field modelTiedHead = {.path = "model.init_args.tied_head",
                                        .label = "tied_head",
                                        .type = FieldType::Bool,
                                        .stage = "forward",
                                        .fallback = "false",
                                        .use = FieldUse::Runs,
                                        .help =
                                            "Transformer: the output layer uses the embedding of the input.",
                                        .classes = "Transformer"};
inline constexpr std::array<std::string_view, 2> kModelAttentionChoices = {"sdpa", "explicit"};
inline constexpr Field modelAttention = {.path = "model.init_args.attention",
                                         .label = "attention",
                                         .type = FieldType::Choice,
                                         .stage = "forward",
                                         .fallback = "sdpa",
                                         .choices = kModelAttentionChoices,
                                         .use = FieldUse::Runs,
                                         .help =
                                             "Transformer: the library's attention, or scores made by hand.",
                                         .classes = "Transformer"};

} // namespace mantissa::field
