#pragma once

#include <string_view>

namespace mantissa {

enum class RunState { Queued, Running, Paused, Finished, Stopped, Failed, Interrupted };

std::string_view runStateId(RunState state);
constexpr bool hasEnded(RunState state)
{
    return state >= RunState::Finished;
}

} // namespace mantissa
