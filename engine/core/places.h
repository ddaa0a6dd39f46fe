#pragma once

namespace mantissa {

/// Where Debian's dataset-fashion-mnist puts its files.
inline constexpr const char* kFashionMnistFolder = "/usr/share/datasets/fashion-mnist";

} // namespace mantissa
