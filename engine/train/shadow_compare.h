#pragma once

#include "engine/core/shadow_report.h"
#include "engine/tensor/torch.h"
#include "engine/train/step_report.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace mantissa {

/// What one of the two steps left behind.
struct ShadowSide {
    StepReport report;
    std::vector<std::string> units; ///< In forward order, the root last.
    std::vector<int> unitOf; ///< Of each weight.
    /// Outputs of layers and the gradients that came back to them, one for each micro batch.
    std::map<std::pair<std::string, std::string>, std::vector<at::Tensor>> layers;
    std::vector<at::Tensor> gradients; ///< Of each weight; undefined where there is none.
    double gradientFactor = 1.0; ///< What divides the loss scale out of them.
    std::vector<at::Tensor> before;
    std::vector<at::Tensor> after;
};

ShadowReport compareSides(const ShadowSide& asked, const ShadowSide& exact);

} // namespace mantissa
