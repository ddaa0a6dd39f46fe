#include "engine/core/replace_file.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

namespace mantissa {
namespace {

constexpr mode_t kNewFileMode = 0666; // The user's mask takes off what it takes off any new file.

bool writeAll(int descriptor, std::string_view bytes)
{
    while (!bytes.empty()) {
        const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return false;
        bytes.remove_prefix(static_cast<std::size_t>(written));
    }
    return ::fsync(descriptor) == 0;
}

Error failed(const std::filesystem::path& path, int reason)
{
    return {ErrorCode::Io, path.string() + " cannot be written: " + std::string(std::strerror(reason)) + ".",
            "The old file is as it was. Check that its folder may be written to and has space."};
}

/// Into the file as it is, since its other names are to see it too. The whole text lies aside until then.
Result<void> writeThrough(const std::filesystem::path& path, const std::filesystem::path& target,
                          const std::filesystem::path& aside, std::string_view bytes)
{
    const int descriptor = ::open(target.c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC);
    const bool written = descriptor >= 0 && writeAll(descriptor, bytes);
    const int reason = errno;
    if (descriptor < 0) {
        ::unlink(aside.c_str());
        return failed(path, reason);
    }
    if (::close(descriptor) != 0 || !written)
        return Error{ErrorCode::Io,
                     path.string() + " could not be written whole: " + std::strerror(reason) + ".",
                     "Its new text is in " + aside.string() + "."};
    ::unlink(aside.c_str());
    return {};
}

} // namespace

Result<void> replaceFile(const std::filesystem::path& path, std::string_view bytes)
{
    std::error_code missing;
    auto target = std::filesystem::canonical(path, missing);
    if (missing)
        target = path;
    struct stat old = {};
    const bool replaces = ::stat(target.c_str(), &old) == 0;
    const auto aside =
        target.parent_path() / ("." + target.filename().string() + "." + std::to_string(::getpid()));
    const int descriptor = ::open(aside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, kNewFileMode);
    if (descriptor < 0)
        return failed(path, errno);
    bool good = !replaces || ::fchmod(descriptor, old.st_mode & 07777) == 0;
    good = good && writeAll(descriptor, bytes);
    int reason = errno;
    good = ::close(descriptor) == 0 && good;
    if (good && replaces && old.st_nlink > 1)
        return writeThrough(path, target, aside, bytes);
    if (good && ::rename(aside.c_str(), target.c_str()) == 0)
        return {};
    reason = good ? errno : reason;
    ::unlink(aside.c_str());
    return failed(path, reason);
}

} // namespace mantissa
