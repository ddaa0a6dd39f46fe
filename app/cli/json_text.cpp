#include "app/cli/json_text.h"

#include <cmath>
#include <cstdio>

namespace mantissa::cli {

Json jsonNumber(double value)
{
    if (std::isfinite(value))
        return value;
    return std::isnan(value) ? "NaN" : value > 0.0 ? "Infinity" : "-Infinity";
}

Json parsedOrNull(const std::string& text)
{
    const auto parsed = Json::parse(text, nullptr, false);
    return parsed.is_discarded() ? Json() : parsed;
}

void printJson(const Json& json)
{
    const std::string line = json.dump(-1, ' ', false, Json::error_handler_t::replace) + '\n';
    std::fwrite(line.data(), 1, line.size(), stdout);
    std::fflush(stdout);
}

} // namespace mantissa::cli
