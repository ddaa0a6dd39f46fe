#include "engine/checkpoint/durable_file.h"

#include <cerrno>
#include <fcntl.h>
#include <fstream>
#include <system_error>
#include <unistd.h>

namespace mantissa {
namespace {

Error ioError(const std::filesystem::path& path, int code)
{
    return {ErrorCode::Io, path.string() + " cannot be written: " + std::generic_category().message(code),
            "Check that the disk has room and that you may write there."};
}

} // namespace

Result<void> syncToDisk(const std::filesystem::path& path)
{
    const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor < 0)
        return ioError(path, errno);
    const int failed = ::fsync(descriptor) == 0 ? 0 : errno;
    ::close(descriptor);
    if (failed != 0)
        return ioError(path, failed);
    return {};
}

Result<void> writeDurably(const std::filesystem::path& file, std::string_view content)
{
    errno = 0;
    std::ofstream out(file, std::ios::binary | std::ios::trunc);
    out.write(content.data(), static_cast<std::streamsize>(content.size()));
    out.close();
    if (!out)
        return ioError(file, errno != 0 ? errno : EIO);
    return syncToDisk(file);
}

} // namespace mantissa
