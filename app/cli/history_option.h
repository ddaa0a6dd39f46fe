#pragma once

#include "engine/history/run_reader.h"

#include <CLI/CLI.hpp>

#include <filesystem>
#include <memory>
#include <string>

namespace mantissa::cli {

/// `--history DIR`, wherever runs are read or written.
inline void addHistoryOption(CLI::App& command, std::string& history)
{
    history = defaultHistory().string();
    command.add_option("--history", history, "Folder that holds the runs")
        ->type_name("DIR")
        ->check([](const std::string& folder) {
            return folder.empty() ? "It takes the folder that holds the runs, and was given no name."
                                  : std::string();
        })
        ->capture_default_str();
}

} // namespace mantissa::cli
