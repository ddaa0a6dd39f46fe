#pragma once

#include "engine/recipe/field.h"

#include <array>

// Data of this engine.
namespace mantissa::field {

inline constexpr std::array<std::string_view, 8> kDataClassChoices = {
    "mantissa.FashionMNIST", "mantissa.CIFAR",      "mantissa.NumpyArrays", "mantissa.CSV",
    "mantissa.TextBytes",    "mantissa.TextFolder", "mantissa.Synthetic",   "mantissa.TraceBatches"};
inline constexpr Field dataClass = {.path = "data.class_path",
                                    .label = "data",
                                    .type = FieldType::Choice,
                                    .stage = "data",
                                    .choices = kDataClassChoices,
                                    .use = FieldUse::Runs,
                                    .help = "Where batches come from. Names of other packages stay as they "
                                            "are: they are checked, and not trained here."};
inline constexpr Field batchSize = {
    .path = "data.init_args.batch_size",
    .label = "batch_size",
    .type = FieldType::Integer,
    .stage = "data",
    .fallback = "64",
    .least = 1,
    .unit = "rows",
    .use = FieldUse::Runs,
    .help = "Rows for each rank and micro batch. For recorded batches: rows of all ranks together."};
inline constexpr Field dataFolder = {
    .path = "data.init_args.folder",
    .label = "folder",
    .type = FieldType::Text,
    .stage = "data",
    .use = FieldUse::Runs,
    .help = "FashionMNIST: the folder with the four IDX files; nothing: the system's own copy. CIFAR: the "
            "folder of the binary version. TextFolder: the folder with the texts.",
    .classes = "FashionMNIST CIFAR TextFolder"};
inline constexpr Field dataFile = {
    .path = "data.init_args.file",
    .label = "file",
    .type = FieldType::Text,
    .stage = "data",
    .use = FieldUse::Runs,
    .help = "TextBytes: any file; each of its bytes is a token. CSV: the table. TraceBatches: "
            "the safetensors file with the batches.",
    .classes = "TextBytes CSV TraceBatches"};
inline constexpr Field dataContext = {.path = "data.init_args.context",
                                      .label = "context",
                                      .type = FieldType::Integer,
                                      .stage = "data",
                                      .least = 1,
                                      .use = FieldUse::Runs,
                                      .help = "Texts: tokens in a row; by default the context of the model.",
                                      .classes = "TextBytes TextFolder"};
inline constexpr std::array<std::string_view, 3> kDataShapeChoices = {"vectors", "images", "tokens"};
inline constexpr Field dataShape = {.path = "data.init_args.shape",
                                    .label = "shape",
                                    .type = FieldType::Choice,
                                    .stage = "data",
                                    .choices = kDataShapeChoices,
                                    .use = FieldUse::Runs,
                                    .help = "Synthetic: what a sample is; by default what the model takes.",
                                    .classes = "Synthetic"};
inline constexpr Field dataInputs = {
    .path = "data.init_args.inputs",
    .label = "inputs",
    .type = FieldType::Integer,
    .stage = "data",
    .least = 1,
    .use = FieldUse::Runs,
    .help = "Synthetic: numbers, pixels of a side, or tokens of a sample; by default what the model takes.",
    .classes = "Synthetic"};
inline constexpr Field dataClasses = {.path = "data.init_args.classes",
                                      .label = "classes",
                                      .type = FieldType::Integer,
                                      .stage = "data",
                                      .least = 2,
                                      .use = FieldUse::Runs,
                                      .help = "Synthetic: classes or tokens; by default those of the model.",
                                      .classes = "Synthetic"};
inline constexpr Field dataSamples = {.path = "data.init_args.samples",
                                      .label = "samples",
                                      .type = FieldType::Integer,
                                      .stage = "data",
                                      .fallback = "4096",
                                      .least = 1,
                                      .use = FieldUse::Runs,
                                      .help = "Synthetic: samples in all.",
                                      .classes = "Synthetic"};
inline constexpr Field dataInitFile = {
    .path = "data.init_args.init_file",
    .label = "init_file",
    .type = FieldType::Text,
    .stage = "data",
    .use = FieldUse::Runs,
    .help = "TraceBatches: a safetensors file with the first weights, by parameter name.",
    .classes = "TraceBatches"};
inline constexpr Field dataBatchesPerEpoch = {.path = "data.init_args.batches_per_epoch",
                                              .label = "batches_per_epoch",
                                              .type = FieldType::Integer,
                                              .stage = "data",
                                              .fallback = "0",
                                              .least = 0,
                                              .use = FieldUse::Runs,
                                              .help = "TraceBatches: recorded batches in an epoch; 0: all.",
                                              .classes = "TraceBatches"};

} // namespace mantissa::field
