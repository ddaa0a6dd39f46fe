#pragma once

#include "engine/core/result.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace mantissa {

/// One tensor of a safetensors file. `begin` and `end` count from the first byte after the header.
struct SafetensorsEntry {
    std::string name;
    std::string dtype; ///< "F32", "BF16", …
    std::vector<std::int64_t> shape;
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
};

struct SafetensorsHeader {
    std::vector<SafetensorsEntry> entries; ///< By position in the file.
    std::map<std::string, std::string> metadata;
    std::uint64_t dataStart = 0;
};

/// Bytes of one element; 0 for a dtype that the format does not know.
std::uint64_t safetensorsElementSize(const std::string& dtype);

/// Reads and checks the header against the size of the file: known dtypes, sizes that fit the shapes, no
/// overlap and no gap. Nothing of the data is read, and nothing is allocated that the file itself does not
/// justify.
Result<SafetensorsHeader> readSafetensorsHeader(const std::filesystem::path& file);

/// The length and the header as they stand at the beginning of a file. `entries` need name, dtype and shape;
/// their positions are filled in, one after the other.
std::string makeSafetensorsHeader(std::vector<SafetensorsEntry>& entries,
                                  const std::map<std::string, std::string>& metadata);

} // namespace mantissa
