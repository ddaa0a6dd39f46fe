#include "engine/tensor/guarded_torch.h"

namespace mantissa {

std::string plainWords(const std::exception& error)
{
    const auto* fromTorch = dynamic_cast<const c10::Error*>(&error);
    return fromTorch ? std::string(fromTorch->what_without_backtrace()) : std::string(error.what());
}

} // namespace mantissa
