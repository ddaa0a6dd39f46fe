#include "engine/recipe/flow_value.h"

#include "engine/recipe/scalar.h"

namespace mantissa {

Value readFlowValue(std::string_view text)
{
    if (text == "{}")
        return ValueMap{};
    if (!text.starts_with('[') || !text.ends_with(']'))
        return resolveScalar(text);
    ValueList list;
    text = text.substr(1, text.size() - 2);
    while (!text.empty()) {
        const auto comma = text.find(", ");
        list.push_back(resolveScalar(text.substr(0, comma)));
        text = comma == std::string_view::npos ? std::string_view{} : text.substr(comma + 2);
    }
    return list;
}

} // namespace mantissa
