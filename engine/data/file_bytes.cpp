#include "engine/data/file_bytes.h"

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <fstream>

namespace mantissa {
namespace {

constexpr std::uintmax_t kMostBytes = std::uintmax_t{4} << 30U;

} // namespace

Result<std::string> readDataFile(const std::filesystem::path& file, const std::string& setting)
{
    std::error_code failure;
    const auto size = std::filesystem::file_size(file, failure);
    if (failure)
        return Error{ErrorCode::NotFound, "Cannot read " + file.string() + ": " + failure.message() + ".",
                     "Check " + setting + "."};
    if (size > kMostBytes)
        return Error{ErrorCode::InvalidSetup, file.string() + " is larger than 4 GiB.", "Use a part of it."};
    std::string bytes(size, '\0');
    std::ifstream in(file, std::ios::binary);
    if (!in.read(bytes.data(), static_cast<std::streamsize>(size)))
        return Error{ErrorCode::Io, "Cannot read " + file.string() + ": " + std::strerror(errno) + ".",
                     "Check that you may read it."};
    return bytes;
}

} // namespace mantissa
