#pragma once

#include "engine/core/result.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace mantissa {

/// The cells of a table, line by line.
struct CsvTable {
    std::vector<std::string> names; ///< Of the columns; empty where the first line holds numbers.
    std::vector<std::vector<std::string>> lines;
    std::vector<std::int64_t> numbers; ///< Of each line in the file, from 1.
};

/// Reads commas, semicolons or tabs, whichever the first line has most of; quotes may hold them. Damaged,
/// with the line, where lines have different numbers of cells.
Result<CsvTable> readCsv(const std::filesystem::path& file, const std::string& setting);

} // namespace mantissa
