#include "engine/tensor/allocation.h"

#include <cstdlib>
#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace mantissa {

void keepFreedMemory()
{
#ifdef __GLIBC__
    constexpr int kMost = 1 << 30; // Larger single blocks are still returned.
    mallopt(M_MMAP_THRESHOLD, kMost);
    mallopt(M_TRIM_THRESHOLD, kMost);
#endif
}

} // namespace mantissa
