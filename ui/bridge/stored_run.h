#pragma once

#include "engine/history/run_reader.h"
#include "ui/plot/run_outline.h"

#include <optional>
#include <string>
#include <vector>

namespace mantissa::ui {

/// What a list shows of a run beyond its summary: read from the run's file, so not for every row at once.
struct RunFacts {
    std::string precision; ///< As written in the set-up.
    std::string strategy;
    std::string optimizer;
    int ranks = 1;
    std::optional<double> loss; ///< The last one.
    std::int64_t skipped = 0;
    std::vector<double> scale; ///< The loss scale in a few points; empty where there is none.
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
};

// These read files: never on the window's thread.
RunFacts readRunFacts(const RunSummaryRow& row);
Result<StoredRun> readStoredRun(const std::filesystem::path& folder);

} // namespace mantissa::ui
