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
        ->capture_default_str();
}

} // namespace mantissa::cli
