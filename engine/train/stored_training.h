#pragma once

#include "engine/checkpoint/safetensors.h"
#include "engine/core/result.h"
#include "engine/recipe/run_plan.h"
#include "engine/train/training_position.h"

#include <filesystem>
#include <string>
#include <vector>

namespace mantissa {

/// What a model begins with.
struct InitialTensors {
    std::vector<at::Tensor> weights; ///< In param order.
    NamedTensors buffers; ///< Empty where they are made, not stored.
};

/// The weights and buffers that the plan's model needs, out of stored ones. Damaged where one is missing or
/// has another shape; `source` names the file in the message.
Result<InitialTensors> initialTensors(const RunPlan& plan, const NamedTensors& stored,
                                      const std::string& source);

/// A checkpoint, read whole: what a training goes on from.
struct StoredTraining {
    TrainingPosition position;
    InitialTensors initial;
    NamedTensors states; ///< "optimizer.<state>.<parameter>", "rng.<rank>"
};

Result<StoredTraining> readTraining(const RunPlan& plan, const std::filesystem::path& checkpoint);

} // namespace mantissa
