#pragma once

#include "engine/recipe/field.h"

#include <array>

// Data from files, and what is kept back for validation.
namespace mantissa::field {

inline constexpr Field dataValSplit = {
    .path = "data.init_args.val_split",
    .label = "val_split",
    .type = FieldType::Number,
    .stage = "data",
    .fallback = "0.0",
    .least = 0,
    .most = 0.9,
    .use = FieldUse::Runs,
    .help = "Share of the samples that is kept back to validate on. 0: none.",
    .classes = "FashionMNIST CIFAR NumpyArrays CSV TextBytes TextFolder Synthetic"};
inline constexpr Field dataValTest = {
    .path = "data.init_args.val_test",
    .label = "val_test",
    .type = FieldType::Bool,
    .stage = "data",
    .fallback = "false",
    .use = FieldUse::Runs,
    .help = "FashionMNIST and CIFAR: validates on their own test images instead.",
    .classes = "FashionMNIST CIFAR"};
inline constexpr std::array<std::string_view, 2> kDataVersionChoices = {"cifar10", "cifar100"};
inline constexpr Field dataVersion = {.path = "data.init_args.version",
                                      .label = "version",
                                      .type = FieldType::Choice,
                                      .stage = "data",
                                      .fallback = "cifar10",
                                      .choices = kDataVersionChoices,
                                      .use = FieldUse::Runs,
                                      .help = "CIFAR: how many classes.",
                                      .classes = "CIFAR"};
inline constexpr Field dataNpyInputs = {
    .path = "data.init_args.inputs_file",
    .label = "inputs_file",
    .type = FieldType::Text,
    .stage = "data",
    .use = FieldUse::Runs,
    .help = "NumpyArrays: the .npy file with the samples, one along the first axis.",
    .classes = "NumpyArrays"};
inline constexpr Field dataNpyTargets = {
    .path = "data.init_args.targets_file",
    .label = "targets_file",
    .type = FieldType::Text,
    .stage = "data",
    .use = FieldUse::Runs,
    .help = "NumpyArrays: the .npy file with a whole number, the class, for each sample.",
    .classes = "NumpyArrays"};
inline constexpr Field dataTarget = {
    .path = "data.init_args.target",
    .label = "target",
    .type = FieldType::Any,
    .stage = "data",
    .use = FieldUse::Runs,
    .help = "CSV: the column with the classes, by its name or its number from 0; nothing: the last one.",
    .classes = "CSV"};
inline constexpr Field dataSuffix = {.path = "data.init_args.suffix",
                                     .label = "suffix",
                                     .type = FieldType::Text,
                                     .stage = "data",
                                     .fallback = ".txt",
                                     .use = FieldUse::Runs,
                                     .help = "TextFolder: how the names of its texts end.",
                                     .classes = "TextFolder"};

} // namespace mantissa::field
