#include "engine/data/npy_file.h"

#include "engine/data/file_bytes.h"
#include "engine/tensor/torch.h"

#include <bit>
#include <charconv>
#include <cstring>

namespace mantissa {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::size_t kVersionEnd = 8;

static_assert(std::endian::native == std::endian::little, "elements are read as they lie in the file");

template <typename T>
double element(const char* from)
{
    T value{};
    std::memcpy(&value, from, sizeof value);
    return static_cast<double>(value);
}

/// What follows `'key':` in the header.
std::string_view valueOf(std::string_view header, std::string_view key)
{
    std::string quoted(1, '\'');
    quoted.append(key).append("':");
    const auto found = header.find(quoted);
    if (found == std::string_view::npos)
        return {};
    header.remove_prefix(found + quoted.size());
    header.remove_prefix(std::min(header.find_first_not_of(' '), header.size()));
    return header;
}

class NpyParser {
public:
    explicit NpyParser(const std::filesystem::path& file) : m_file(file) {}

    Result<NpyArray> parse(std::string content)
    {
        NpyArray array;
        array.content = std::move(content);
        if (!std::string_view(array.content).starts_with(kMagic) || array.content.size() < kVersionEnd + 4)
            return damaged("offset 0: this is no .npy file.");
        const int version = array.content[6];
        if (version < 1 || version > 3)
            return damaged("offset 6: the format's version " + std::to_string(version) + " is unknown.");
        const std::size_t lengthBytes = version == 1 ? 2 : 4;
        std::size_t length = 0;
        std::memcpy(&length, array.content.data() + kVersionEnd, lengthBytes);
        array.begin = kVersionEnd + lengthBytes + length;
        if (array.begin > array.content.size())
            return damaged("offset 8: the header is longer than the file.");
        const auto header = std::string_view(array.content).substr(kVersionEnd + lengthBytes, length);
        if (auto read = readHeader(header, array); !read)
            return read.error();
        return checkSize(std::move(array));
    }

private:
    Error damaged(const std::string& what) const
    {
        return {ErrorCode::Damaged, m_file.string() + ": " + what, "Write it again with numpy.save."};
    }
    Error refused(const std::string& what, const std::string& python) const
    {
        return {ErrorCode::InvalidSetup, m_file.string() + ": " + what,
                "In Python: numpy.save(file, " + python + ")."};
    }

    Result<void> readHeader(std::string_view header, NpyArray& array) const
    {
        const auto descr = valueOf(header, "descr");
        const auto order = valueOf(header, "fortran_order");
        const auto shape = valueOf(header, "shape");
        if (descr.empty() || order.empty() || shape.empty())
            return damaged("offset 10: the header lacks descr, fortran_order or shape.");
        if (!order.starts_with("False"))
            return refused("the array is stored column by column.", "numpy.ascontiguousarray(array)");
        if (auto read = readType(descr, array); !read)
            return read;
        return readShape(shape, array);
    }

    Result<void> readType(std::string_view descr, NpyArray& array) const
    {
        const auto close = descr.starts_with('\'') ? descr.find('\'', 1) : std::string_view::npos;
        const auto word =
            close == std::string_view::npos ? std::string_view("?") : descr.substr(1, close - 1);
        const auto unread = [&] {
            return refused("elements are of type " + std::string(word) + ", which is not read.",
                           "array.astype('<f4')");
        };
        if (word.size() != 3 || (word[0] != '<' && word[0] != '|'))
            return unread();
        array.kind = word[1];
        array.bytes = word[2] - '0';
        const bool number = (array.kind == 'f' && (array.bytes == 2 || array.bytes == 4 || array.bytes == 8))
            || ((array.kind == 'i' || array.kind == 'u')
                && (array.bytes == 1 || array.bytes == 2 || array.bytes == 4 || array.bytes == 8))
            || (array.kind == 'b' && array.bytes == 1);
        return number ? Result<void>{} : Result<void>{unread()};
    }

    Result<void> readShape(std::string_view text, NpyArray& array) const
    {
        const auto close = text.find(')');
        if (!text.starts_with('(') || close == std::string_view::npos)
            return damaged("offset 10: the header's shape makes no sense.");
        text = text.substr(1, close - 1);
        while (true) {
            text.remove_prefix(std::min(text.find_first_not_of(", "), text.size()));
            if (text.empty())
                return {};
            std::int64_t size = -1;
            const auto parsed = std::from_chars(text.data(), text.data() + text.size(), size);
            if (parsed.ec != std::errc{} || size < 1)
                return damaged("offset 10: the header's shape has a side that is no number from 1.");
            array.shape.push_back(size);
            text.remove_prefix(static_cast<std::size_t>(parsed.ptr - text.data()));
        }
    }

    Result<NpyArray> checkSize(NpyArray array) const
    {
        const auto there = array.content.size() - array.begin;
        std::size_t needed = static_cast<std::size_t>(array.bytes);
        for (const auto size : array.shape) {
            if (needed > array.content.size() / static_cast<std::size_t>(size) + 1)
                return damaged("the shape asks for more than the file holds.");
            needed *= static_cast<std::size_t>(size);
        }
        if (needed != there)
            return damaged("offset " + std::to_string(array.begin) + ": " + std::to_string(there)
                           + " bytes follow, and the shape asks for " + std::to_string(needed) + ".");
        return array;
    }

    std::filesystem::path m_file;
};

} // namespace

std::int64_t NpyArray::rowLength() const
{
    std::int64_t length = 1;
    for (std::size_t i = 1; i < shape.size(); ++i)
        length *= shape[i];
    return length;
}

double NpyArray::at(std::int64_t index) const
{
    const char* from =
        content.data() + begin + static_cast<std::size_t>(index) * static_cast<std::size_t>(bytes);
    if (kind == 'f')
        return bytes == 2 ? element<c10::Half>(from)
            : bytes == 4  ? element<float>(from)
                          : element<double>(from);
    const bool isSigned = kind == 'i';
    switch (bytes) {
    case 1:
        return isSigned ? element<std::int8_t>(from) : element<std::uint8_t>(from);
    case 2:
        return isSigned ? element<std::int16_t>(from) : element<std::uint16_t>(from);
    case 4:
        return isSigned ? element<std::int32_t>(from) : element<std::uint32_t>(from);
    default:
        return isSigned ? element<std::int64_t>(from) : element<std::uint64_t>(from);
    }
}

Result<NpyArray> readNpy(const std::filesystem::path& file, const std::string& setting)
{
    auto content = readDataFile(file, setting);
    if (!content)
        return content.error();
    return NpyParser(file).parse(*std::move(content));
}

} // namespace mantissa
