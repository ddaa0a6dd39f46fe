#pragma once

#include "engine/core/training_service.h"

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace mantissa {

/// One thing that the program uses, as it was found here.
struct Examined {
    enum class Mark {
        Good,
        Note, ///< Works without, or otherwise.
        Missing
    };

    std::string id; ///< "engine", "history", …; for scripts.
    std::string topic; ///< "Training engine"
    Mark mark = Mark::Good;
    std::string found; ///< A sentence, with the place in it.
    std::string hint; ///< What to do; empty where nothing is to be done.
    bool operator==(const Examined&) const = default;
};

std::string_view markId(Examined::Mark mark); ///< "good", "note", "missing"

/// Where to look. The defaults are those of a usual machine.
struct Surroundings {
    std::filesystem::path history;
    std::filesystem::path fashionMnist; ///< Empty: Debian's package.
};

/// Looks at everything that composing, training and storing need. `engine` is what loading it said. Reads
/// files: not for the window's thread.
std::vector<Examined> examine(const Surroundings& surroundings, const Result<EngineReport>& engine);

} // namespace mantissa
