#include "engine/core/run_state.h"

#include <array>
#include <cstddef>

namespace mantissa {

std::string_view runStateId(RunState state)
{
    static constexpr std::array<std::string_view, 7> kIds = {"queued",  "running", "paused",     "finished",
                                                             "stopped", "failed",  "interrupted"};
    return kIds[static_cast<std::size_t>(state)];
}

} // namespace mantissa
