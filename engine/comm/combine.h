#pragma once

#include "engine/comm/communicator.h"

#include <cstddef>
#include <vector>

namespace mantissa {

/// out[i] = parts[0][first + i] + parts[1][first + i] + … (or their greatest) for `count` elements, in the
/// order of `parts`, so that the bits never depend on who came first. 16-bit types are added up in fp32 and
/// rounded once; a NaN wins a Max. `out` may be one of the parts at `first`. Pure; from any thread.
void combine(WireType type, ReduceOp op, const std::vector<const void*>& parts, std::size_t first,
             std::size_t count, void* out);

/// The same for F16 without the processor's conversion instructions: for processors that lack them, and to
/// test both ways.
void combineHalfPortably(ReduceOp op, const std::vector<const void*>& parts, std::size_t first,
                         std::size_t count, void* out);

} // namespace mantissa
