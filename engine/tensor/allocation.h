#pragma once

namespace mantissa {

/// Freed memory stays with the process, for the next step's tensors of the same sizes. By its defaults the C
/// library hands large blocks back to the kernel at once, and every step pays for new, zeroed pages: a third
/// of the step of a wide bf16 layer. For the whole process; may be called again.
void keepFreedMemory();

} // namespace mantissa
