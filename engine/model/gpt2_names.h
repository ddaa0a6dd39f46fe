#pragma once

#include "engine/checkpoint/safetensors.h"

namespace mantissa {

/// Whether a file's tensors carry the names of the public GPT-2 weights, with or without `transformer.`
/// before them.
bool areGpt2Weights(const NamedTensors& tensors);

/// The same weights under the names, and in the layout, of this engine's transformer: GPT-2 keeps its linear
/// layers as Conv1D, inputs first. What are no weights (attention masks) is left out. Without a head of its
/// own the embedding is the head.
NamedTensors fromGpt2(const NamedTensors& tensors);

} // namespace mantissa
