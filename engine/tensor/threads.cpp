#include "engine/tensor/threads.h"

#include "engine/tensor/torch.h"

#include <algorithm>

namespace mantissa {

void useThreads(int perRank)
{
    at::set_num_threads(std::max(perRank, 1));
}

} // namespace mantissa
