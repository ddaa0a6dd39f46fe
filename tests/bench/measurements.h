#pragma once

#include "tests/bench/bench_case.h"

#include <nlohmann/json.hpp>

#include <vector>

namespace mantissa::bench {

using Json = nlohmann::ordered_json;

/// Steps a second of the real Trainer, milliseconds of each stage, memory. Throws where it cannot train.
Json measureTraining(const BenchCase& bench);

/// Gigabytes a second that one rank puts through each collective, beside a plain copy of the same bytes.
std::vector<Json> measureCollectives(const BenchCase& bench);

} // namespace mantissa::bench
