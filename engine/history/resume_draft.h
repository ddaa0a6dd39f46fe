#pragma once

#include "engine/core/result.h"
#include "engine/core/training_service.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace mantissa {

/// How a stored run is to go on.
struct ResumeWish {
    std::optional<std::int64_t>
        fromStep; ///< From the newest checkpoint that is not after it; none: the newest.
    std::optional<std::int64_t> toSteps; ///< Until so many steps are made in all; none: as the set-up says.
};

/// What a run that goes on begins with. Whoever starts it may edit the text, checks it and plans it as for
/// any other run, and hands `from` over with the request.
struct ResumeDraft {
    std::string setupText;
    ResumePoint from;
    std::string name; ///< For the new run: "baseline-from-20".
};

/// NotFound where no checkpoint of the run is left, with what to do.
Result<ResumeDraft> draftResume(const std::filesystem::path& run, const ResumeWish& wish = {});

} // namespace mantissa
