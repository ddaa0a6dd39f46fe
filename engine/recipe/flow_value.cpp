#include "engine/recipe/flow_value.h"

#include "engine/recipe/setup_file.h"

namespace mantissa {

Value readFlowValue(std::string_view text)
{
    // A line break would end the value, and what follows would be another setting.
    const bool oneLine = text.find_first_of("\r\n") == std::string_view::npos;
    const auto file = readSetup("value: " + std::string(text) + "\n");
    const bool read = oneLine && file.isReadable() && file.setup.root().asMap().size() == 1;
    return read ? file.setup.at("value") : Value(text);
}

} // namespace mantissa
