#pragma once

#include <nlohmann/json.hpp>

#include <string>

namespace mantissa::cli {

/// JSON whose keys stay in the order in which they were put in.
using Json = nlohmann::ordered_json;

/// A number in full precision; what JSON has no word for becomes "NaN", "Infinity" or "-Infinity".
Json jsonNumber(double value);

/// Text that is JSON already, or null where it is empty or broken.
Json parsedOrNull(const std::string& text);

/// One document on one line of standard output. Bytes that are no UTF-8 are replaced.
void printJson(const Json& json);

} // namespace mantissa::cli
