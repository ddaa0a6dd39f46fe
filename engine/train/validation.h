#pragma once

#include "engine/data/validation_set.h"
#include "engine/metrics/sample.h"
#include "engine/recipe/run_plan.h"

#include <cstdint>
#include <vector>

namespace mantissa {

class Communicator;
class Model;
class Precision;
class Strategy;

inline constexpr const char* kValLoss = "val_loss";
inline constexpr const char* kValAccuracy = "val_accuracy";
inline constexpr const char* kValPerplexity = "val_perplexity";

/// What a round of validation found, over all ranks: the same on each.
struct ValidationResult {
    double loss = 0.0; ///< Mean over rows, or tokens.
    double accuracy = 0.0;
    std::int64_t rows = 0;
};

/// The trained parts of one rank, as validation uses them.
struct ValidationParts {
    const ValidationSet& set;
    Model& model;
    Strategy& strategy;
    Precision& precision;
    Communicator& communicator;
};

/// Runs the first batches of the set through the model: no gradient, no dropout, running statistics as they
/// are. Weights and random generators are not touched. A collective: all ranks call it.
ValidationResult validate(const ValidationParts& parts, std::int64_t batches);

std::vector<SeriesSpec> validationSeries(const RunPlan& plan);

} // namespace mantissa
