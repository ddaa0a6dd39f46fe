#pragma once

#include "engine/core/result.h"

#include <CLI/CLI.hpp>

#include <functional>
#include <string>

namespace mantissa::cli {

/// Exit codes that scripts rely on.
enum ExitCode {
    Ok = 0,
    Findings = 1,
    Usage = 2,
    Unreadable = 3,
    DamagedHistory = 4,
    NotHere = 5,
    InterruptedByUser = 130
};

ExitCode exitCodeFor(ErrorCode code);

/// Prints the error and its hint on standard error and returns its exit code.
int report(const Error& error);
/// The same for what was typed wrongly, whatever the error's code.
int reportUsage(const Error& error);

/// Registers one command with its options. Its body goes into `run` when the command was chosen.
/// One function a file; the table in main.cpp lists them.
using AddCommand = void (*)(CLI::App& app, std::function<int()>& run);

void addCheck(CLI::App& app, std::function<int()>& run);
void addDoctor(CLI::App& app, std::function<int()>& run);
void addFix(CLI::App& app, std::function<int()>& run);
void addTrain(CLI::App& app, std::function<int()>& run);
void addMemory(CLI::App& app, std::function<int()>& run);
void addResume(CLI::App& app, std::function<int()>& run);
void addRewind(CLI::App& app, std::function<int()>& run);
void addRuns(CLI::App& app, std::function<int()>& run);
void addShadow(CLI::App& app, std::function<int()>& run);
void addShow(CLI::App& app, std::function<int()>& run);
void addVerify(CLI::App& app, std::function<int()>& run);

} // namespace mantissa::cli
