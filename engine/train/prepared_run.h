#pragma once

#include "engine/data/loader.h"
#include "engine/data/validation_set.h"
#include "engine/recipe/run_plan.h"
#include "engine/strategy/weight_source.h"
#include "engine/tensor/torch.h"
#include "engine/train/stored_training.h"
#include "engine/train/trainer.h"

#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace mantissa {

/// What a position in the data counts in.
struct DataPlace {
    std::int64_t samples = 0;
    std::int64_t jointBatch = 1; ///< Rows that all ranks take together.
};

/// When a run validates, and on what: the plan's words as numbers of batches.
struct ValidationRounds {
    std::shared_ptr<const ValidationSet> set; ///< Null: never.
    std::int64_t batches = 0; ///< Of one round.
    std::int64_t sanity = 0; ///< Before training.
    std::int64_t interval = 0; ///< Training batches between two rounds.
};

/// See trainer.h. The trainers read it; only the loader inside it changes.
class PreparedRun {
public:
    PreparedRun(RunPlan runPlan, InitialTensors initial, std::unique_ptr<Loader> batches, DataPlace place,
                std::optional<StoredTraining> stored, ValidationRounds rounds)
        : plan(std::move(runPlan)),
          weights(std::move(initial.weights)),
          buffers(std::move(initial.buffers)),
          data(place),
          from(std::move(stored)),
          loader(std::move(batches)),
          validation(std::move(rounds))
    {
    }

    const RunPlan plan;
    const std::vector<at::Tensor> weights; ///< In param order; fp32 unless a checkpoint holds another dtype;
                                           ///< empty where each rank draws its own.
    const NamedTensors buffers; ///< From the file with the weights; empty where they are drawn.
    const DataPlace data;
    const std::optional<StoredTraining> from; ///< What this run goes on from.
    const std::unique_ptr<Loader> loader;
    const ValidationRounds validation;
};

/// What a rank's strategy is filled from: the weights read from a file, or drawn one after the other, so that
/// a sharded model is never whole.
WeightSource weightSource(const PreparedRun& prepared);

/// Micro batches in a window of an epoch: the entry with the largest key that is not above it, else 1.
std::int64_t accumulateAt(const RunPlan& plan, std::int64_t epoch);

} // namespace mantissa
