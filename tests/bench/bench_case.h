#pragma once

#include "engine/recipe/run_plan.h"

#include <cstdint>
#include <string>

namespace mantissa::bench {

/// What is measured: the options of the command, with the names that the peers' benchmark uses for them.
struct BenchCase {
    std::string what = "single";
    std::string model = "gpt";
    std::string precision = "32-true";
    int threads = 1;
    int ranks = 2; ///< Of a distributed `what`.
    std::string impl = "forloop";
    std::string recording = "off";
    double seconds = 9.0; ///< Of all windows together.
    int repeats = 3; ///< Windows; the median is given.
    std::int64_t vocab = 256;
    std::int64_t context = 128;
    std::int64_t width = 256; ///< Of gpt.
    std::int64_t heads = 8;
    std::int64_t layers = 4;
    std::int64_t batch = 16; ///< Of gpt; rows of all ranks together.
    std::int64_t mlpWidth = 1024;
    std::int64_t mlpBatch = 128;
    std::string history; ///< Where a recorded run goes; empty: a temporary folder.
};

/// Made-up data of the model's shapes and AdamW with a step of 1e-6: with a larger one the few batches are
/// learnt by heart within seconds, gradients become subnormal and the arithmetic three times slower.
RunPlan planOf(const BenchCase& bench);

} // namespace mantissa::bench
