#pragma once

#include "engine/model/model.h"
#include "engine/tensor/torch.h"

#include <functional>
#include <string>
#include <vector>

namespace mantissa {

/// The initial value of each weight. Asked once for each, in the order of the model's parameters, so that a
/// source may make one after the other and none has to hold them all.
using WeightSource = std::function<at::Tensor(std::size_t index)>;

/// Whether a weight's name begins with one of these.
bool isFrozen(const std::string& name, const std::vector<std::string>& frozen);

} // namespace mantissa
