#include "engine/data/idx.h"

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <zlib.h>

namespace mantissa {
namespace {

constexpr std::int64_t kMostBytes = std::int64_t{2} << 30;
constexpr std::uint8_t kUnsignedBytes = 0x08;

struct CloseGz {
    void operator()(gzFile file) const { gzclose(file); }
};
using GzFile = std::unique_ptr<gzFile_s, CloseGz>;

Error damaged(const std::filesystem::path& file, const std::string& what)
{
    return {ErrorCode::Damaged, file.string() + ": " + what, "Install or copy the data again."};
}

bool readAll(gzFile file, void* into, std::size_t count)
{
    auto* at = static_cast<std::uint8_t*>(into);
    while (count > 0) {
        const auto part = static_cast<unsigned>(std::min<std::size_t>(count, 1U << 20U));
        const int got = gzread(file, at, part);
        if (got <= 0)
            return false;
        at += got;
        count -= static_cast<std::size_t>(got);
    }
    return true;
}

} // namespace

Result<IdxBytes> readIdx(const std::filesystem::path& path)
{
    const GzFile file(gzopen(path.c_str(), "rb"));
    if (!file)
        return Error{ErrorCode::NotFound, "Cannot open " + path.string() + ".",
                     "Check that it is there, and that you may read it."};
    std::array<std::uint8_t, 4> magic{};
    if (!readAll(file.get(), magic.data(), magic.size()) || magic[0] != 0 || magic[1] != 0)
        return damaged(path, "this is no IDX file.");
    if (magic[2] != kUnsignedBytes || magic[3] == 0 || magic[3] > 4)
        return damaged(path, "only IDX files of bytes with one to four dimensions are read.");
    IdxBytes content;
    std::int64_t total = 1;
    for (int i = 0; i < magic[3]; ++i) {
        std::array<std::uint8_t, 4> raw{};
        if (!readAll(file.get(), raw.data(), raw.size()))
            return damaged(path, "it ends inside its sizes.");
        const auto size = (std::int64_t{raw[0]} << 24) | (std::int64_t{raw[1]} << 16)
            | (std::int64_t{raw[2]} << 8) | raw[3];
        if (size == 0 || total > kMostBytes / size)
            return damaged(path, "its sizes make no sense.");
        total *= size;
        content.sizes.push_back(size);
    }
    content.bytes.resize(static_cast<std::size_t>(total));
    if (!readAll(file.get(), content.bytes.data(), content.bytes.size()))
        return damaged(path, "it is shorter than its sizes say.");
    std::uint8_t rest = 0;
    if (gzread(file.get(), &rest, 1) != 0)
        return damaged(path, "it is longer than its sizes say.");
    return content;
}

} // namespace mantissa
