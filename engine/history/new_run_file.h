#pragma once

#include "engine/history/run_writer.h"

#include <chrono>
#include <filesystem>
#include <string>

namespace mantissa {

/// Seconds since 1970 with three decimals: how a sign of life is written down.
std::string unixSeconds(std::chrono::system_clock::time_point time);

/// A run's file as it is before the first point: complete, in rollback mode, closed. Throws
/// SQLite::Exception.
void makeRunFile(const std::filesystem::path& file, const RunStart& start, const std::string& id,
                 std::chrono::system_clock::time_point now);

} // namespace mantissa
