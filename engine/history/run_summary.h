#pragma once

#include "engine/history/run_reader.h"

#include <SQLiteCpp/SQLiteCpp.h>

#include <filesystem>

namespace mantissa {

/// A run as its file says it, or why it cannot be said: Damaged where something that every run has is missing
/// or where a table is broken. Nothing is made up. Throws SQLite::Exception.
Result<RunSummaryRow> readSummary(SQLite::Database& database, const std::filesystem::path& folder);

/// A run that cannot be read: its folder, what that folder is called, and the reason.
RunSummaryRow unreadableRun(const std::filesystem::path& folder, const Error& error);

} // namespace mantissa
