#pragma once

#include "engine/core/result.h"

#include <array>
#include <optional>
#include <string_view>
#include <utility>

namespace mantissa {

/// What the code of an error is called where it is stored: in the detail of a run's failure.
inline constexpr std::array kErrorIds = {
    std::pair{ErrorCode::InvalidSetup, std::string_view("invalid_setup")},
    std::pair{ErrorCode::NotFound, std::string_view("not_found")},
    std::pair{ErrorCode::Io, std::string_view("io")},
    std::pair{ErrorCode::Damaged, std::string_view("damaged")},
    std::pair{ErrorCode::NotHere, std::string_view("not_here")},
    std::pair{ErrorCode::Refused, std::string_view("refused")},
    std::pair{ErrorCode::OutOfMemory, std::string_view("out_of_memory")},
    std::pair{ErrorCode::RankLost, std::string_view("rank_lost")},
    std::pair{ErrorCode::Cancelled, std::string_view("cancelled")},
    std::pair{ErrorCode::Internal, std::string_view("internal")},
};

constexpr std::string_view errorId(ErrorCode code)
{
    for (const auto& [known, id] : kErrorIds)
        if (known == code)
            return id;
    return {};
}

constexpr std::optional<ErrorCode> errorWithId(std::string_view wanted)
{
    for (const auto& [code, id] : kErrorIds)
        if (id == wanted)
            return code;
    return std::nullopt;
}

} // namespace mantissa
