#include "engine/tensor/dtype.h"

#include <array>

namespace mantissa {
namespace {

struct DtypeName {
    at::ScalarType type;
    std::string_view name;
    std::string_view torchName;
};

constexpr std::array kDtypes = {
    DtypeName{at::kFloat, "fp32", "float32"}, DtypeName{at::kBFloat16, "bf16", "bfloat16"},
    DtypeName{at::kHalf, "fp16", "float16"},  DtypeName{at::kDouble, "fp64", "float64"},
    DtypeName{at::kLong, "int64", "int64"},   DtypeName{at::kInt, "int32", "int32"},
    DtypeName{at::kShort, "int16", "int16"},  DtypeName{at::kChar, "int8", "int8"},
    DtypeName{at::kByte, "uint8", "uint8"},   DtypeName{at::kBool, "bool", "bool"},
};

} // namespace

std::string_view dtypeName(at::ScalarType type)
{
    for (const auto& entry : kDtypes) {
        if (entry.type == type)
            return entry.name;
    }
    return c10::toString(type);
}

std::optional<at::ScalarType> dtypeFromName(std::string_view name)
{
    for (const auto& entry : kDtypes) {
        if (entry.name == name || entry.torchName == name)
            return entry.type;
    }
    return std::nullopt;
}

bool isHalf(at::ScalarType type)
{
    return type == at::kHalf || type == at::kBFloat16;
}

} // namespace mantissa
