#include "engine/checkpoint/safetensors.h"

#include "engine/interop/safetensors_header.h"
#include "engine/tensor/guarded_torch.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <optional>

namespace mantissa {
namespace {

struct FileDtype {
    at::ScalarType type;
    const char* name;
};

constexpr std::array kFileDtypes = {
    FileDtype{at::kDouble, "F64"},
    FileDtype{at::kFloat, "F32"},
    FileDtype{at::kHalf, "F16"},
    FileDtype{at::kBFloat16, "BF16"},
    FileDtype{at::kLong, "I64"},
    FileDtype{at::kInt, "I32"},
    FileDtype{at::kShort, "I16"},
    FileDtype{at::kChar, "I8"},
    FileDtype{at::kByte, "U8"},
    FileDtype{at::kBool, "BOOL"},
    FileDtype{at::kFloat8_e4m3fn, "F8_E4M3"},
    FileDtype{at::kFloat8_e5m2, "F8_E5M2"},
};

std::optional<at::ScalarType> typeOf(const std::string& name)
{
    for (const auto& entry : kFileDtypes) {
        if (name == entry.name)
            return entry.type;
    }
    return std::nullopt;
}

std::string nameOf(at::ScalarType type)
{
    for (const auto& entry : kFileDtypes) {
        if (type == entry.type)
            return entry.name;
    }
    throw std::invalid_argument("a safetensors file cannot hold this dtype");
}

Error ioError(const std::string& doing, const std::filesystem::path& file)
{
    return {ErrorCode::Io, doing + " " + file.string() + ": " + std::strerror(errno) + ".",
            "Check that the folder is there, that you may use it, and that the disk has space."};
}

} // namespace

Result<NamedTensors> readSafetensors(const std::filesystem::path& file)
{
    auto header = readSafetensorsHeader(file);
    if (!header)
        return header.error();
    return guardedTorch("reading " + file.string(), [&]() -> Result<NamedTensors> {
        std::ifstream in(file, std::ios::binary);
        in.seekg(static_cast<std::streamoff>(header->dataStart));
        NamedTensors tensors;
        for (const auto& entry : header->entries) {
            const auto type = typeOf(entry.dtype);
            if (!type)
                return Error{ErrorCode::NotHere,
                             file.string() + " holds '" + entry.name + "' as " + entry.dtype
                                 + ", which is not read.",
                             {}};
            at::Tensor tensor = at::empty(entry.shape, at::TensorOptions(*type));
            if (!in.read(static_cast<char*>(tensor.data_ptr()),
                         static_cast<std::streamsize>(entry.end - entry.begin)))
                return ioError("Cannot read", file);
            tensors.emplace_back(entry.name, std::move(tensor));
        }
        return tensors;
    });
}

Result<void> writeSafetensors(const std::filesystem::path& file, const NamedTensors& tensors,
                              const std::map<std::string, std::string>& metadata)
{
    return guardedTorch("writing " + file.string(), [&]() -> Result<void> {
        std::vector<SafetensorsEntry> entries;
        for (const auto& [name, tensor] : tensors)
            entries.push_back({name, nameOf(tensor.scalar_type()), tensor.sizes().vec(), 0, 0});
        std::ofstream out(file, std::ios::binary | std::ios::trunc);
        if (!out)
            return ioError("Cannot write", file);
        const std::string header = makeSafetensorsHeader(entries, metadata);
        out.write(header.data(), static_cast<std::streamsize>(header.size()));
        for (const auto& [name, tensor] : tensors) {
            const at::Tensor plain = tensor.detach().contiguous();
            out.write(static_cast<const char*>(plain.data_ptr()),
                      static_cast<std::streamsize>(plain.nbytes()));
        }
        out.close();
        if (!out)
            return ioError("Cannot write", file);
        return {};
    });
}

at::Tensor tensorNamed(const NamedTensors& tensors, std::string_view name)
{
    for (const auto& [key, tensor] : tensors) {
        if (key == name)
            return tensor;
    }
    return {};
}

} // namespace mantissa
