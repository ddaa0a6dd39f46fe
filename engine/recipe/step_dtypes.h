#pragma once

#include "engine/recipe/setup.h"

#include <string>

namespace mantissa {

/// The number formats of one step, as "fp32", "fp16", "bf16", "fp64", "fp8 e4m3".
struct StepDtypes {
    std::string raw; ///< What the loader gives: "int64" for tokens.
    std::string input; ///< What the model is given.
    std::string compute; ///< Forward.
    std::string backward; ///< … and back.
    std::string loss;
    std::string gathered; ///< Weights as the forward pass is given them.
    std::string gradient; ///< As the backward pass leaves it.
    std::string reduce; ///< On its way between ranks.
    std::string stored; ///< Weights that the optimizer changes, and the gradients that it is given.
};

StepDtypes stepDtypes(const Setup& setup);

/// The model takes tokens, which are never converted.
bool takesTokens(const Setup& setup);

} // namespace mantissa
