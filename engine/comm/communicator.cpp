#include "engine/comm/communicator.h"

namespace mantissa {

std::size_t wireSize(WireType type)
{
    switch (type) {
    case WireType::F64:
    case WireType::I64:
        return 8;
    case WireType::F32:
        return 4;
    case WireType::BF16:
    case WireType::F16:
        return 2;
    case WireType::U8:
        return 1;
    }
    return 0;
}

std::string_view wireName(WireType type)
{
    switch (type) {
    case WireType::F64:
        return "f64";
    case WireType::I64:
        return "i64";
    case WireType::F32:
        return "f32";
    case WireType::BF16:
        return "bf16";
    case WireType::F16:
        return "f16";
    case WireType::U8:
        return "u8";
    }
    return "?";
}

} // namespace mantissa
