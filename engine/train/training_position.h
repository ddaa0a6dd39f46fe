#pragma once

#include "engine/core/result.h"

#include <cstdint>
#include <string>
#include <vector>

namespace mantissa {

/// Where a training stood between two steps: all that is no tensor. A checkpoint's training.json.
struct TrainingPosition {
    std::int64_t step = 0; ///< Steps done; the next one has this number.
    std::int64_t epoch = 0;
    std::int64_t batch = 0; ///< The next micro batch of the epoch.
    std::int64_t globalBatch = 0; ///< … and of the run.
    int ranks = 1;
    std::uint64_t seed = 0;
    std::int64_t samples = 0; ///< Of the data set.
    std::int64_t jointBatch = 1; ///< Rows that all ranks take together.
    std::string precision; ///< "16-mixed"
    std::string strategy;
    std::string optimizerClass;
    double optimizerSteps = 0.0;
    std::string optimizerState; ///< JSON, like all that follow: what the optimizer keeps beside its tensors.
    std::vector<std::string> furtherOptimizers; ///< The same of a model's second own one, and so on.
    std::string optimizerSettings; ///< To tell whether it is the same one.
    std::string scheduleSettings;
    std::string scheduleState;
    std::string scalerState; ///< Empty object: there was none.
    std::string callbacks = "{}"; ///< Their states by name.
};

std::string positionText(const TrainingPosition& position);
/// Damaged where it is not what positionText() writes.
Result<TrainingPosition> readPosition(const std::string& text);

} // namespace mantissa
