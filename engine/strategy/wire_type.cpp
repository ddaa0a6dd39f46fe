#include "engine/strategy/wire_type.h"

namespace mantissa {

WireType wireTypeOf(at::ScalarType type)
{
    switch (type) {
    case at::kFloat:
        return WireType::F32;
    case at::kDouble:
        return WireType::F64;
    case at::kBFloat16:
        return WireType::BF16;
    case at::kHalf:
        return WireType::F16;
    case at::kLong:
        return WireType::I64;
    case at::kByte:
        return WireType::U8;
    default:
        throw CommError(std::string("tensors of type ") + c10::toString(type)
                        + " do not travel between ranks");
    }
}

at::Tensor gatherFlat(const at::Tensor& shard, Communicator& communicator)
{
    const at::Tensor own = shard.contiguous();
    at::Tensor whole = at::empty({own.numel() * communicator.size()}, own.options());
    communicator.allGather(own.const_data_ptr(), whole.mutable_data_ptr(),
                           static_cast<std::size_t>(own.numel()), wireTypeOf(own.scalar_type()));
    return whole;
}

} // namespace mantissa
