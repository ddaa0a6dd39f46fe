#pragma once

#include "engine/comm/communicator.h"
#include "engine/tensor/torch.h"

namespace mantissa {

/// How a tensor's elements travel. Throws where a dtype never does.
WireType wireTypeOf(at::ScalarType type);

/// All parts of `shard` in rank order, as one flat tensor. A collective.
at::Tensor gatherFlat(const at::Tensor& shard, Communicator& communicator);

} // namespace mantissa
