#pragma once

#include "engine/history/run_reader.h"
#include "ui/plot/run_outline.h"

#include <optional>
#include <string>
#include <vector>

namespace mantissa::ui {

/// What a list shows of a run beyond its summary: read from the run's file, so not for every row at once.
struct RunFacts {
    std::string precision; ///< As written in the set-up. This and the next two are empty where not known.
    std::string strategy;
    std::string optimizer;
    int ranks = 1;
    std::optional<double> loss; ///< The last one.
    std::optional<std::int64_t> skipped;
    std::vector<double> scale; ///< The loss scale in a few points; empty where there is none.
    std::string error; ///< What of the run cannot be read; empty: nothing.
};

/// All that is stored of one run.
struct StoredRun {
    RunSummaryRow row;
    RunOutline outline;
    StoredSetup setup;
    std::vector<SeriesPoints> series;
    std::vector<RunEvent> events;
    std::vector<CheckpointRecord> checkpoints;
    std::int64_t skipped = 0;
    std::vector<std::string> damage; ///< Why parts of it cannot be read; empty: all of it is here.
};

// These read files: never on the window's thread.
RunFacts readRunFacts(const RunSummaryRow& row);
Result<StoredRun> readStoredRun(const std::filesystem::path& folder);
/// Why the folder with all runs cannot be read; that it is not there yet is no error.
Result<void> lookAtHistory(const std::filesystem::path& history);

} // namespace mantissa::ui
