#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace mantissa {

/// "1 rank", "3 ranks"; a plural that does not end in s is given.
inline std::string counted(std::int64_t count, std::string_view one, std::string_view many = {})
{
    std::string text = std::to_string(count) + ' ';
    if (count == 1)
        return text.append(one);
    return many.empty() ? text.append(one) + 's' : text.append(many);
}

} // namespace mantissa
