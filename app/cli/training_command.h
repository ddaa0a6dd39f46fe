#pragma once

#include "app/cli/setup_argument.h"
#include "engine/core/training_service.h"

#include <CLI/CLI.hpp>

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace mantissa::cli {

/// What `train` and `resume` have in common.
struct TrainingOptions {
    std::vector<std::string> changes;
    std::string name;
    std::string mode;
    std::string history;
    double grace = 60.0;
    bool json = false;
};

void addTrainingOptions(CLI::App& command, TrainingOptions& options);

/// Where a command differs from `train`.
struct TrainingVariant {
    std::optional<ResumePoint> resume = {};
    std::function<void(RunRequest&)> adjust = {}; ///< Before the start.
    /// In place of the summary: gets the exit code of the training and gives the command's.
    std::function<int(const RunSummary&, int code)> finish = {};
};

/// Reports what kept a training from starting; with --json the last line of standard output says so as well.
int notStarted(bool json, const Error& error);

/// Changes the set-up as the options say, checks it, trains it and shows it. The exit code.
int trainSetup(const TrainingOptions& options, SetupArgument argument, const TrainingVariant& variant = {});

} // namespace mantissa::cli
